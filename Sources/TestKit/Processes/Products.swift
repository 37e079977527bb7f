import Glibc

/// The paths of the package's executables and source files.
public enum Products {
    /// Returns the path of an executable from the same build as this process.
    public static func executable(_ name: String) throws(ProcessError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = parent(of: own) + "/" + name
        guard access(path, X_OK) == 0 else { throw ProcessError("\(path) is not built") }
        return path
    }

    /// Returns the absolute path of a file of the repository.
    public static func file(_ path: String) -> String {
        // Sources/TestKit/Processes/Products.swift
        let top = (0..<4).reduce(#filePath) { path, _ in parent(of: path) }
        return "\(top)/\(path)"
    }

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
