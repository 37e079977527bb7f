import CLinux
import EventLoop
import Glibc

/// The Unix sockets by which commands on this machine find the workers of their user.
enum ControlSocket {
    /// Sockets that a command looks at.
    static let socketsMax = 256

    /// Where a worker puts its socket: in what systemd made for the service, else in its user's own folder for such things.
    static func folder(of user: uid_t, _ environment: (String) -> String?) -> String {
        if let folder = environment("RUNTIME_DIRECTORY"), folder.hasPrefix("/"), !folder.contains(":") { return folder }
        if let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") { return "\(folder)/martlet" }
        return "/tmp/martlet-\(user)"
    }

    /// The folders that a command looks in: a worker of the same user may have been started with another environment, by
    /// systemd, from a session or without one.
    static func folders(of user: uid_t, _ environment: (String) -> String?) -> [String] {
        let own = [
            folder(of: user, environment), folder(of: user) { $0 == "XDG_RUNTIME_DIR" ? environment($0) : nil },
        ]
        let others = [serviceFolder, "/run/user/\(user)/martlet", "/tmp/martlet-\(user)"]
        return (own + others).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static var folders: [String] { folders(of: geteuid(), Environment.value) }

    /// What systemd makes of `RuntimeDirectory=martlet`.
    private static let serviceFolder = "/run/martlet"

    /// The socket of this process unless its configuration names another.
    static func path(_ environment: (String) -> String? = Environment.value) -> String {
        "\(folder(of: geteuid(), environment))/\(getpid()).sock"
    }

    /// Makes the folder of a default socket and removes sockets of processes that have ended.
    ///
    /// - Throws: when the folder cannot be made, or another user may write to it and could put sockets there.
    static func makeFolder(of path: String) throws(TransportError) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw TransportError(
                .resources, "cannot make the folder \(folder): \(String(cString: strerror(errno)))", underlying: errno)
        }
        guard isOwn(folder) else {
            throw TransportError(.resources, "\(folder) is not a folder that only this user may write to")
        }
        for path in paths(in: [folder]) where isLeftBehind(path) { unlink(path) }
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
    static var paths: [String] { paths(in: folders) }

    /// Those of folders that nobody else may write to.
    static func paths(in folders: [String]) -> [String] {
        var paths: [String] = []
        for folder in folders where isOwn(folder) {
            guard let directory = opendir(folder) else { continue }
            defer { closedir(directory) }
            while paths.count < socketsMax, let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasSuffix(".sock") { paths.append("\(folder)/\(name)") }
            }
        }
        return paths.sorted()
    }

    /// Where there is nothing, and what may help.
    static var advice: String {
        let list = folders.map { "\($0)/" }.joined(separator: ", ")
        let service = owner(of: serviceFolder).map { "; \(serviceFolder)/ is another user's: sudo -u \($0) martlet …" }
        return "no worker of this user is found on this machine: none listens in \(list)\(service ?? "")"
    }

    /// The name of the user, where it is another, whose folder it is.
    private static func owner(of folder: String) -> String? {
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid != geteuid() else {
            return nil
        }
        return getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "'#\(status.st_uid)'"
    }
}
