import Configuration
import Text

extension DoctorCheck {
    static let configuration = DoctorCheck(name: "configuration", secondsMax: 5) { context, _, _ in
        guard context.mistakes.isEmpty else {
            return context.mistakes.map {
                .failure(
                    "configuration", $0.description, remedy: "correct the mistake, then run: martlet config check")
            }
        }
        let warnings = context.configuration?.warnings ?? []
        let apps = context.configuration?.apps.count ?? 0
        return [.ok("configuration", "\(context.path), with \(apps.counted("app"))")]
            + warnings.map { .warning("configuration", $0, remedy: "change the configuration if this is not intended") }
    }
}
