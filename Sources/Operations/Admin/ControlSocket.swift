import CLinux
import EventLoop
import Glibc

/// The Unix sockets by which commands on this machine find the workers of their user.
enum ControlSocket {
    /// Sockets that a command looks at.
    static let socketsMax = 256

    /// What systemd made for the service, else the user's own folder for such things.
    static var folder: String {
        if let folder = Environment.value("RUNTIME_DIRECTORY"), folder.hasPrefix("/"), !folder.contains(":") {
            return folder
        }
        if let folder = Environment.value("XDG_RUNTIME_DIR"), folder.hasPrefix("/") { return "\(folder)/martlet" }
        return "/tmp/martlet-\(geteuid())"
    }

    /// Where this process listens unless its configuration says otherwise. Makes the folder.
    ///
    /// - Throws: when the folder is not this user's alone: somebody else could put sockets there.
    static func makePath() throws(TransportError) -> String {
        let folder = folder
        mkdir(folder, 0o700)
        guard isOwn(folder) else {
            throw TransportError(.resources, "\(folder) is not a folder that only this user may write to")
        }
        for path in paths where isLeftBehind(path) { unlink(path) }
        return "\(folder)/\(getpid()).sock"
    }

    /// Whether it is a folder of this user, which nobody else may write to.
    private static func isOwn(_ folder: String) -> Bool {
        var status = stat()
        return lstat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
            && status.st_mode & 0o022 == 0
    }

    /// Whether the process that it is named after has gone.
    private static func isLeftBehind(_ path: String) -> Bool {
        let name = path.split(separator: "/").last?.dropLast(".sock".count)
        guard let process = name.flatMap({ pid_t($0) }), process > 0 else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    /// Those that are there, by their names.
    static var paths: [String] {
        guard isOwn(folder), let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var paths: [String] = []
        while paths.count < socketsMax, let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".sock") { paths.append("\(folder)/\(name)") }
        }
        return paths.sorted()
    }
}
