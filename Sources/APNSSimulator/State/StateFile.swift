import JSON
import YAML

/// A state file in YAML. Error messages about its content contain the line and the column.
struct StateFile {
    let path: String
    /// The time at which devices became inactive if the file has no time, in milliseconds since 1970.
    let sinceMilliseconds: Int64

    /// Reads the file.
    ///
    /// - Throws: `SimulatorError` with the code `noInput` if the file cannot be read, or `badInput` if its content is
    ///   invalid.
    func read() throws(SimulatorError) -> StateDocument {
        try read(try TextFile.read(path))
    }

    /// Parses `text` as the file's content. Reads the files that the text names. Relative paths start at
    /// the state file's directory.
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
