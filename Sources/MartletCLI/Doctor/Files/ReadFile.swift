import Glibc
import Text

/// A file that a worker reads.
struct ReadFile: Sendable {
    enum Content: Sendable {
        /// A password, a passphrase or a key.
        case secret
        /// A key for APNs. The check `keys` covers its file.
        case key
        case other
    }

    let path: String
    let content: Content

    /// Returns a warning if any user can change the file or read its secret; empty for a key for APNs.
    func warnings(mode: UInt32) -> [DoctorLine] {
        let isChangeable = mode & 0o002 != 0
        let isSecret = content == .secret
        guard content != .key, isChangeable || isSecret && mode & 0o004 != 0 else { return [] }
        let what = "any user on this machine can \(isChangeable ? "change" : "read a secret in") \(path)"
        return [
            .warning(
                "files", "\(what) (mode \(Self.octal(mode)))",
                remedy: isSecret
                    ? "make the worker's user or group own the file, then run: chmod o= \(Shell.quoted(path))"
                    : "run: chmod o-w \(Shell.quoted(path))")
        ]
    }

    /// Returns a warning if the owner of a file or folder is neither root nor `user`. The owner can change the file or
    /// folder.
    ///
    /// - Parameter user: the user of the `martlet doctor` process. If the user is root, the result is nil, because the
    ///   worker's user is then unknown.
    static func warning(path: String, owner: UInt32, user: UInt32) -> DoctorLine? {
        guard user != 0, owner != 0, owner != user else { return nil }
        return .warning(
            "files", "user \(owner), who is neither root nor the user of this process, can change \(path)",
            remedy: "if the worker runs as user \(user), run: chown \(user) \(Shell.quoted(path)); if not, run martlet "
                + "doctor as the user of the worker")
    }

    /// Returns a warning if any user can replace the files of a folder. In a sticky folder such as /tmp, only owners
    /// can replace files.
    static func warning(folder: String, mode: UInt32) -> DoctorLine? {
        guard mode & 0o002 != 0, mode & UInt32(S_ISVTX) == 0 else { return nil }
        return .warning(
            "files", "any user on this machine can replace files in \(folder) (mode \(octal(mode)))",
            remedy: "run: chmod o-w \(Shell.quoted(folder))")
    }

    private static func octal(_ mode: UInt32) -> String { String(mode & 0o777, radix: 8) }

    /// Returns the parent folders of a path that contains no symbolic links, nearest first.
    static func folders(above path: String) -> [String] {
        var folders: [String] = []
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/") {
            rest = rest[..<slash]
            folders.append(rest.isEmpty ? "/" : String(rest))
        }
        return folders
    }
}
