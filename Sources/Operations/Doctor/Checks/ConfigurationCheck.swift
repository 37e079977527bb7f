extension DoctorCheck {
    static let configuration = DoctorCheck(name: "configuration", secondsMax: 5) { scene, _, _ in
        guard scene.mistakes.isEmpty else {
            return scene.mistakes.map {
                .failure(
                    "configuration", $0.description, remedy: "mend it there; martlet config check looks at it alone")
            }
        }
        let warnings = scene.configuration?.warnings ?? []
        let apps = scene.configuration?.apps.count ?? 0
        return [.ok("configuration", "\(scene.path), with \(apps) \(apps == 1 ? "app" : "apps")")]
            + warnings.map { .warning("configuration", $0, remedy: "leave it if it is meant so") }
    }
}
