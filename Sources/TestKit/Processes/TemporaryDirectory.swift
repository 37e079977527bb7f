import Glibc

/// A temporary folder, which is deleted with its contents when this object is deallocated.
public final class TemporaryDirectory: Sendable {
    /// The maximum number of bytes that `read(_:)` returns.
    private static let fileBytesMax = 65_536

    public let path: String

    public init(_ name: String = "test") throws(ProcessError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/martlet-\(name).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ProcessError(errno, "cannot create a folder in \(parent)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// Returns the path of a file in the folder.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file in the folder and returns its path.
    @discardableResult
    public func write(_ name: String, _ text: String) throws(ProcessError) -> String {
        let file = file(name)
        guard let handle = fopen(file, "w") else { throw ProcessError(errno, "cannot write \(file)") }
        let bytes = Array(text.utf8)
        let written = fwrite(bytes, 1, bytes.count, handle)
        guard fclose(handle) == 0, written == bytes.count else { throw ProcessError(errno, "cannot write \(file)") }
        return file
    }

    /// Writes an executable file, such as a script, in the folder and returns its path.
    ///
    /// Another process writes the file. If this process wrote it, a child that another thread starts meanwhile could
    /// hold the file open for writing, and executing the file would fail with `ETXTBSY`.
    @discardableResult
    public func writeProgram(_ name: String, _ text: String) async throws(ProcessError) -> String {
        let source = try write("\(name).text", text)
        let result = try await ChildProcess.run(["install", "-m", "700", source, file(name)])
        guard result.exit.status == .exited(0) else {
            throw ProcessError("cannot write \(file(name)): \(result.errors.joined(separator: " "))")
        }
        return file(name)
    }

    /// Returns the text of a file in the folder.
    ///
    /// - Throws: `ProcessError` if the file cannot be read.
    public func read(_ name: String) throws(ProcessError) -> String {
        guard let stream = fopen(file(name), "r") else { throw ProcessError(errno, "cannot read \(file(name))") }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: Self.fileBytesMax)
        let count = fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func remove(_ path: String) {
        // Try unlink first, because opendir would follow a symbolic link, and the folder behind the link would be
        // emptied.
        if unlink(path) == 0 { return }
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { remove("\(path)/\(name)") }
        }
        closedir(folder)
        rmdir(path)
    }
}
