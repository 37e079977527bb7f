import Glibc

/// A small file system in memory. Requires the right to mount.
public final class SmallDisk: Sendable {
    private let directory: TemporaryDirectory

    /// Returns whether this process may mount file systems.
    public static func isPermitted() async -> Bool {
        (try? await ChildProcess.run(["unshare", "--mount", "true"]).exit.status) == .exited(0)
    }

    public init(kilobytes: Int) async throws {
        directory = try TemporaryDirectory("disk")
        try await mount("-t", "tmpfs", "-o", "size=\(kilobytes)k", "martlet-test", directory.path)
    }

    deinit { umount2(directory.path, Int32(MNT_DETACH)) }

    public var path: String { directory.path }

    public func file(_ name: String) -> String { directory.file(name) }

    private var filler: String { file("filler") }

    /// Fills the free space with a file.
    public func fill() throws(ProcessError) {
        let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ProcessError(errno, "cannot write \(filler)") }
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 1, count: 1 << 16)
        while write(descriptor, bytes, bytes.count) > 0 {}
        guard errno == ENOSPC else { throw ProcessError(errno, "cannot write \(filler)") }
    }

    /// Frees the space that ``fill()`` used.
    public func free() throws(ProcessError) {
        // A process that another test starts may have the file open, so deleting it would not free the space at once.
        guard truncate(filler, 0) == 0 else { throw ProcessError(errno, "cannot write \(filler)") }
    }

    public func makeReadOnly() async throws {
        try await mount("-o", "remount,ro", directory.path)
    }

    public func resize(kilobytes: Int) async throws {
        try await mount("-o", "remount,size=\(kilobytes)k", directory.path)
    }

    private func mount(_ arguments: String...) async throws {
        let result = try await ChildProcess.run(["mount"] + arguments)
        guard result.exit.status == .exited(0) else { throw ProcessError("mount: \(result.errors)") }
    }
}
