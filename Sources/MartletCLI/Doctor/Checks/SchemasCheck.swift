import Configuration
import Delivery

extension DoctorCheck {
    static let schemas = DoctorCheck(name: "schemas", secondsMax: 10) { context, _, _ in
        guard let configuration = context.configuration else {
            return [.unseen("schemas", "the configuration has mistakes", remedy: "correct the mistakes first")]
        }
        let files = configuration.payloadSchemas
        var lines = files.files.flatMap { file in
            file.schema.warnings.map {
                DoctorLine.warning("schemas", "\(file.path): \($0)", remedy: "correct the schema")
            }
        }
        let used = Set(configuration.apps.compactMap { files.index(ofApp: $0.bundleID) })
        for index in files.files.indices where !used.contains(index) {
            lines.append(
                .warning(
                    "schemas", "\(files.files[index].path): applies to no app",
                    remedy: "check whether payload_schemas has a more specific pattern, and whether apps contains "
                        + "the app"))
        }
        let checked = configuration.apps.count { files.index(ofApp: $0.bundleID) != nil }
        return [
            .ok("schemas", "\(files.files.count) for payloads, used by \(checked) of \(configuration.apps.count) apps")
        ] + lines
    }
}
