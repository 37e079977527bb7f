import Glibc

/// Where to find what the package builds and what lies beside it.
public enum Products {
    /// An executable of this package, from the same build as the process that asks.
    public static func executable(_ name: String) throws(ProcessError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = parent(of: own) + "/" + name
        guard access(path, X_OK) == 0 else { throw ProcessError("\(path) is not built") }
        return path
    }

    /// A file of the repository, by its path from the top.
    public static func file(_ path: String) -> String {
        // Sources/TestKit/Processes/Products.swift
        let top = (0..<4).reduce(#filePath) { path, _ in parent(of: path) }
        return "\(top)/\(path)"
    }

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
