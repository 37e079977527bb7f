import Glibc

/// Functions that read complete files and folders.
public enum Files {
    public static func bytes(of path: String) throws(ProcessError) -> [UInt8] {
        guard let file = fopen(path, "r") else { throw ProcessError(errno, "cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return bytes
    }

    public static func lines(of path: String) throws(ProcessError) -> [String] {
        try bytes(of: path).split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the sorted names in a folder, without names that start with a dot.
    public static func names(in folder: String) throws(ProcessError) -> [String] {
        guard let entries = opendir(folder) else { throw ProcessError(errno, "cannot read \(folder)") }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
