import JSON
import YAML

/// A file that says what a simulator knows of the world, in YAML. Every mistake is told with its line.
struct StateFile {
    let path: String
    /// For devices that are said to be unregistered without a time: a day before, in milliseconds since 1970.
    let sinceMilliseconds: Int64

    /// - Throws: `noInput` when it cannot be read, `badInput` when what it says is wrong.
    func read() throws(SimulatorError) -> StateDocument {
        try read(try TextFile.read(path))
    }

    /// As if this were in the file. Files that it names are read, relative to its place.
    func read(_ text: [UInt8]) throws(SimulatorError) -> StateDocument {
        let yaml = try SimulatorError.converting(.badInput) { () throws(YAMLError) in
            try YAMLDocument(text, file: path)
        }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let codec = StateCodec(sinceMilliseconds: sinceMilliseconds) { file throws(InputError) in
            do throws(SimulatorError) {
                return try TextFile.read(file.hasPrefix("/") ? file : directory + file)
            } catch {
                throw InputError(error.message)
            }
        }
        do throws(InputError) {
            return try codec.document.read(yaml.root)
        } catch {
            let place = yaml.position(ofNode: error.node ?? 0)
            throw SimulatorError(.badInput, "\(path):\(place.line):\(place.column): \(error.message)")
        }
    }
}
