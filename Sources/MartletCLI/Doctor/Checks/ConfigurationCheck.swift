import Configuration

extension DoctorCheck {
    static let configuration = DoctorCheck(name: "configuration", secondsMax: 5) { context, _, _ in
        guard context.mistakes.isEmpty else {
            return context.mistakes.map {
                .failure(
                    "configuration", $0.description, remedy: "mend it there; martlet config check looks at it alone")
            }
        }
        let warnings = context.configuration?.warnings ?? []
        let apps = context.configuration?.apps.count ?? 0
        return [.ok("configuration", "\(context.path), with \(apps) \(apps == 1 ? "app" : "apps")")]
            + warnings.map { .warning("configuration", $0, remedy: "leave it if it is meant so") }
    }
}
