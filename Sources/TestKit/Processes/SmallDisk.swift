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

    public func file(_ name: String) -> String { directory.file(name) }

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
