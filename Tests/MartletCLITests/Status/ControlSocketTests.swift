import AdminHTTP
import CommandKit
import EventLoop
import Glibc
import JSON
import Telemetry
import TestKit
import Testing
import Threads

@testable import Configuration
@testable import MartletCLI
@testable import Worker

/// The folders in which commands find workers.
@Suite struct ControlSocketTests {
    private static func folders(_ environment: [String: String]) -> [String] {
        ControlSocket.folders(of: 7) { environment[$0] }
    }

    // Commands rarely have the environment of the worker.
    @Test(arguments: [
        ["RUNTIME_DIRECTORY": "/run/martlet"], ["XDG_RUNTIME_DIR": "/run/user/7"], ["RUNTIME_DIRECTORY": "/a:/b"], [:],
    ])
    func commandsSearchTheFoldersOfAllEnvironments(worker: [String: String]) {
        let folder = ControlSocket.folder(of: 7) { worker[$0] }
        for command in [
            [:], ["XDG_RUNTIME_DIR": "/run/user/7"], ["XDG_RUNTIME_DIR": "relative"], ["RUNTIME_DIRECTORY": "/run/x"],
        ] { #expect(Self.folders(command).contains(folder), "\(folder) from \(command)") }
    }

    @Test func eachFolderIsSearchedOnceAndTheOwnFirst() {
        let own = ["RUNTIME_DIRECTORY": "/run/x", "XDG_RUNTIME_DIR": "/xdg"]
        #expect(
            Self.folders(own) == ["/run/x", "/xdg/martlet", "/run/martlet", "/run/user/7/martlet", "/tmp/martlet-7"])
        #expect(
            Self.folders(["XDG_RUNTIME_DIR": "/run/user/7"])
                == ["/run/user/7/martlet", "/run/martlet", "/tmp/martlet-7"])
    }

    @Test func foldersWritableByOthersAreIgnored() throws {
        let directory = try TemporaryDirectory()
        let modes: [(String, mode_t)] = [("own", 0o700), ("seen", 0o755), ("group", 0o770), ("all", 0o707)]
        for (name, mode) in modes {
            try #require(mkdir(directory.file(name), 0o700) == 0)
            try directory.write("\(name)/1.sock", "")
            try directory.write("\(name)/note", "")
            try #require(chmod(directory.file(name), mode) == 0)
        }
        try #require(symlink(directory.file("own"), directory.file("link")) == 0)
        let names = modes.map(\.0) + ["link", "none"]
        #expect(
            ControlSocket.paths(in: names.map { directory.file($0) })
                == ["own/1.sock", "seen/1.sock"].map { directory.file($0) })
    }

    /// The socket of a killed worker remains without a listener.
    @Test(arguments: [["--live"], ["--json"]])
    func aSocketWithoutAWorkerIsReported(_ options: [String]) async throws {
        let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
            [options = options as [String]] in
            exit(try Self.statusOfASocketWithoutAWorker(options).rawValue)
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("martlet: no worker of this user found") }.count == 1, "\(lines)")
    }

    private static func statusOfASocketWithoutAWorker(_ options: [String]) throws -> ExitCode {
        let directory = try TemporaryDirectory()
        let path = directory.file("1.sock")
        let socket = try onlyBound(path)
        defer { close(socket) }
        let command = try Program.martlet.command(["status"] + options, as: StatusCommand.self)
        return StatusCommand(options: command.options) { [.socket(path)] }.run()
    }

    // An unresponsive worker delays the status by seconds.
    @Test(.timeLimit(.minutes(2))) func aKeyEndsAStatusDuringASlowResponse() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("1.sock")
        let listener = try Self.onlyBound(path)
        defer { close(listener) }
        try #require(listen(listener, 1) == 0)
        let command = "'\(try Products.executable("martlet"))' status --watch --socket '\(path)'"
        let status = try await ChildProcess(["script", "-qec", command, "/dev/null"], input: .pipe)
        let connection = await DetachedThread.run { accept(listener, nil, nil) }
        defer { close(connection) }
        try status.write(line: "q")
        // A worker that has not responded within 5 s would count as unreachable.
        #expect(try await status.exit().status == .exited(0))
    }

    /// Creates a bound socket that does not listen.
    private static func onlyBound(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        return descriptor
    }

    /// The folder cannot be created, for example, in a container with a read-only file system.
    @Test func aMissingFolderIsLoggedWithSocketCauseAndSetting() async throws {
        let directory = try TemporaryDirectory()
        let folder = try directory.write("file", "")
        let line = try await onEpollLoop { loop in
            let captured = try CapturedLog()
            var configuration = WorkerConfiguration.Admin()
            configuration.isEnabled = false
            let routes = WorkerRoutes(
                status: { _ in }, stalledLanes: { [] }, metrics: { _ in "" }, pause: { _, _, _ in },
                changeStore: { _, _ in })
            _ = try AdminEndpoint(configuration, routes, on: loop, metrics: MetricsRegistry(), log: captured.log) {
                $0 == "XDG_RUNTIME_DIR" ? folder : nil
            }
            return captured.lines().first
        }
        let root = try JSONDocument(#require(line)).root
        #expect(root["event"]?.string == "admin.unavailable")
        #expect(root["message"]?.string == "admin listener unavailable")
        #expect(root["admin.socket"]?.string == "\(folder)/martlet/\(getpid()).sock")
        let error = try #require(root["error"]?.string)
        #expect(error.hasPrefix("cannot create the folder \(folder)/martlet: Not a directory; "), "\(error)")
        #expect(error.contains("set admin.socket to a path"))
    }
}
