import Glibc
import Text

extension DoctorCheck {
    /// The check that other users of the machine can neither read a worker's secrets nor change its files. These are
    /// the configuration file and the files that it names, except payload schemas. The permissions of groups are not
    /// checked. The check `keys` covers the modes of APNs keys.
    static let files = DoctorCheck(name: "files", secondsMax: 5) { context, _, _ in
        let user = geteuid()
        var warnings = context.files.flatMap { file -> [DoctorLine] in
            guard let status = status(of: file.path) else { return [] }
            return file.warnings(mode: status.st_mode)
                + [ReadFile.warning(path: file.path, owner: status.st_uid, user: user)].compactMap(\.self)
        }
        let places = context.files.compactMap { resolved($0.path) }
        var folders: [String] = []
        for folder in places.flatMap({ ReadFile.folders(above: $0) }) where !folders.contains(folder) {
            folders.append(folder)
        }
        for folder in folders {
            guard let status = status(of: folder) else { continue }
            let found = [
                ReadFile.warning(folder: folder, mode: status.st_mode),
                ReadFile.warning(path: folder, owner: status.st_uid, user: user),
            ]
            warnings += found.compactMap(\.self)
        }
        guard warnings.isEmpty else { return warnings }
        let trusted = user == 0 ? "their owners and groups" : "root, this user and their groups"
        return [
            .ok(
                "files",
                "\(places.count.counted("file")); only \(trusted) can change these files or read their secrets")
        ]
    }

    static func mode(of path: String) -> UInt32? { status(of: path)?.st_mode }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func resolved(_ path: String) -> String? {
        guard let place = realpath(path, nil) else { return nil }
        defer { free(place) }
        return String(cString: place)
    }
}
