import Glibc

/// What tells that a schema file, or one beside it that it may refer to, is not what it was.
struct FolderFingerprint: Equatable {
    private let entries: [Entry]

    private struct Entry: Equatable {
        var name: String
        var inode: UInt
        var bytes: Int
        var seconds: Int
        var nanoseconds: Int
    }

    /// Links are followed: a mounted Kubernetes ConfigMap changes by a link that then leads elsewhere.
    init(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let names = SchemaFolder.names(in: folder).filter { $0.hasSuffix(".json") }
        let paths = [path] + names.prefix(SchemaFolder.filesMax).map { "\(folder)/\($0)" }
        entries = paths.compactMap { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Entry(
                name: path, inode: status.st_ino, bytes: status.st_size, seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec)
        }
    }
}
