import Configuration
import Delivery

extension DoctorCheck {
    static let schemas = DoctorCheck(name: "schemas", secondsMax: 10) { context, _, _ in
        guard let configuration = context.configuration else {
            return [.unseen("schemas", "the configuration has mistakes", remedy: "mend those first")]
        }
        let files = configuration.payloadSchemas
        var lines = files.files.flatMap { file in
            file.schema.warnings.map { DoctorLine.warning("schemas", "\(file.path): \($0)", remedy: "mend the schema") }
        }
        let used = Set(configuration.apps.compactMap { files.index(ofApp: $0.bundleID) })
        for index in files.files.indices where !used.contains(index) {
            lines.append(
                .warning(
                    "schemas", "\(files.files[index].path): no app is checked by it",
                    remedy: "a more exact pattern of payload_schemas takes its place, or its app is not in apps"))
        }
        let checked = configuration.apps.count { files.index(ofApp: $0.bundleID) != nil }
        return [
            .ok("schemas", "\(files.files.count) of payloads, for \(checked) of \(configuration.apps.count) apps")
        ] + lines
    }
}
