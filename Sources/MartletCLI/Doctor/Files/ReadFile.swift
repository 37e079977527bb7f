import Glibc
import Text

/// A file that a worker reads, and what users other than its owner and group may do with it.
struct ReadFile: Sendable {
    enum Content: Sendable {
        /// A password, a passphrase or a key.
        case secret
        /// A key for APNs, whose file the check `keys` looks at.
        case key
        case other
    }

    let path: String
    let content: Content

    /// Lines of the doctor about this file alone; none if it is safe, or cannot be looked at.
    func warnings(mode: UInt32) -> [DoctorLine] {
        let isChangeable = mode & 0o002 != 0
        let isSecret = content == .secret
        guard content != .key, isChangeable || isSecret && mode & 0o004 != 0 else { return [] }
        let what = "everybody on this machine may \(isChangeable ? "change" : "read a secret in") \(path)"
        return [
            .warning(
                "files", "\(what) (mode \(Self.octal(mode)))",
                remedy: "chmod \(isSecret ? "o=" : "o-w") \(Shell.quoted(path))"
                    + (isSecret ? ", and have it belong to the worker's user or group" : ""))
        ]
    }

    /// A warning if a file or folder belongs to a user other than root and the worker's, since its owner may change it.
    ///
    /// - Parameter user: that the doctor runs as. Root cannot tell the worker's user from others.
    static func warning(path: String, owner: UInt32, user: UInt32) -> DoctorLine? {
        guard user != 0, owner != 0, owner != user else { return nil }
        return .warning(
            "files", "\(path) belongs to user \(owner), who may change it",
            remedy: "run martlet doctor as the worker's user; if that user is \(user), have "
                + "\(Shell.quoted(path)) belong to it or to root")
    }

    /// A warning if everybody may replace the files of a folder. A sticky folder such as /tmp lets only owners do so.
    static func warning(folder: String, mode: UInt32) -> DoctorLine? {
        guard mode & 0o002 != 0, mode & UInt32(S_ISVTX) == 0 else { return nil }
        return .warning(
            "files", "everybody on this machine may replace what is in \(folder) (mode \(octal(mode)))",
            remedy: "chmod o-w \(Shell.quoted(folder))")
    }

    private static func octal(_ mode: UInt32) -> String { String(mode & 0o777, radix: 8) }

    /// The folders above a path without links, the nearest first.
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
