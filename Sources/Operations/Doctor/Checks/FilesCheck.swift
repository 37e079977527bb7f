import Glibc

extension DoctorCheck {
    /// That other users of the machine can neither read the secrets of a worker nor change what it reads. `keys` has the
    /// modes of the keys for APNs.
    static let files = DoctorCheck(name: "files", secondsMax: 5) { scene, _, _ in
        let warnings = scene.files.flatMap { file in mode(of: file.path).map { file.warnings(mode: $0) } ?? [] }
        let places = scene.files.compactMap { resolved($0.path) }
        var folders: [String] = []
        for folder in places.flatMap({ ReadFile.folders(above: $0) }) where !folders.contains(folder) {
            folders.append(folder)
        }
        let all =
            warnings
            + folders.compactMap { folder in
                mode(of: folder).flatMap { ReadFile.warning(folder: folder, mode: $0) }
            }
        guard all.isEmpty else { return all }
        return [.ok("files", "\(places.count) read, and no other user can change them or read secrets in them")]
    }

    /// nil when the file cannot be looked at.
    static func mode(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }

    private static func resolved(_ path: String) -> String? {
        guard let place = realpath(path, nil) else { return nil }
        defer { free(place) }
        return String(cString: place)
    }
}
