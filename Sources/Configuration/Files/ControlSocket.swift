import CLinux
package import EventLoop
import Glibc

/// The Unix sockets through which commands find the workers and the console of their user on this machine.
package enum ControlSocket {
    /// Maximum number of sockets that a command finds.
    package static let socketsMax = 256

    /// Returns the folder of a worker's socket: the runtime folder that systemd created, or a folder in the user's
    /// runtime folder or in `/tmp`.
    static func folder(of user: uid_t, _ environment: (String) -> String?) -> String {
        if let folder = environment("RUNTIME_DIRECTORY"), folder.hasPrefix("/"), !folder.contains(":") { return folder }
        if let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") { return "\(folder)/martlet" }
        return "/tmp/martlet-\(user)"
    }

    /// Returns the folders that a command searches. A worker of the same user may have another environment, because
    /// systemd or another session started it.
    static func folders(of user: uid_t, _ environment: (String) -> String?) -> [String] {
        let own = [
            folder(of: user, environment), folder(of: user) { $0 == "XDG_RUNTIME_DIR" ? environment($0) : nil },
        ]
        let others = [serviceFolder, "/run/user/\(user)/martlet", "/tmp/martlet-\(user)"]
        return (own + others).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static var folders: [String] { folders(of: geteuid(), Environment.value) }

    /// The folder that systemd creates for `RuntimeDirectory=martlet`.
    private static let serviceFolder = "/run/martlet"
    /// The folder that systemd creates for the console.
    private static let consoleFolder = "/run/martlet-console"
    /// The file name of the console's socket. Commands that search for workers skip it.
    private static let consoleName = "console"

    /// Returns the path of the default socket of a console in this process.
    package static func consolePath(_ environment: (String) -> String? = Environment.value) -> String {
        "\(folder(of: geteuid(), environment))/\(consoleName)"
    }

    /// The paths at which a command searches for the socket of a console.
    package static var consolePaths: [String] {
        (folders + [consoleFolder]).filter { isOwn($0) }.map { "\($0)/\(consoleName)" }
            .filter { access($0, F_OK) == 0 }
    }

    /// Returns the path of the default socket of this process. The configuration can name another path.
    package static func path(_ environment: (String) -> String? = Environment.value) -> String {
        "\(folder(of: geteuid(), environment))/\(getpid()).sock"
    }

    /// Creates the folder of a default socket and removes the sockets of ended processes.
    ///
    /// - Throws: if the folder cannot be created, or if another user owns the folder or may write to it. Such a user
    ///   could create sockets there.
    package static func makeFolder(of path: String) throws(TransportError) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw TransportError(
                .resources, "cannot create the folder \(folder): \(String(cString: strerror(errno)))",
                underlying: errno)
        }
        guard isOwn(folder) else {
            throw TransportError(.resources, "\(folder) must be a folder that only this user can write to")
        }
        for path in paths(in: [folder]) where isLeftBehind(path) { unlink(path) }
    }

    /// Returns whether the path is a folder of this user to which no other user may write.
    private static func isOwn(_ folder: String) -> Bool {
        var status = stat()
        return lstat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
            && status.st_mode & 0o022 == 0
    }

    /// Returns whether the process whose ID is in the name of the socket has ended.
    private static func isLeftBehind(_ path: String) -> Bool {
        let name = path.split(separator: "/").last?.dropLast(".sock".count)
        guard let process = name.flatMap({ pid_t($0) }), process > 0 else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    /// Sorted paths of the sockets in all folders that a command searches.
    package static var paths: [String] { paths(in: folders) }

    /// Returns the sorted paths of the sockets in `folders`. Skips folders of other users and folders to which other
    /// users may write.
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

    /// The error text for a command that finds no worker, with the searched folders.
    package static var advice: String {
        let list = folders.map { "\($0)/" }.joined(separator: ", ")
        let service = owner(of: serviceFolder).map { "; for the workers of \($0), run the command with: sudo -u \($0)" }
        return "no worker of this user found on this machine: no socket answers in \(list)\(service ?? "")"
    }

    /// Returns the name of the folder's owner if the owner is another user; otherwise nil.
    private static func owner(of folder: String) -> String? {
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid != geteuid() else {
            return nil
        }
        return getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "'#\(status.st_uid)'"
    }
}
