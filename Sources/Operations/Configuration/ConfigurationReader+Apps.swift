import APNS
import APNSProtocol
import JSON
import JSONSchema

extension ConfigurationReader {
    private typealias Credentials = [APNSEnvironment: Credential.Name]

    /// What apps can be pushed with.
    private struct Known {
        /// Also those that have mistakes, so that no mistake is told twice.
        var keys: [(id: String, credentials: Credentials)]
        var certificates: [Configuration.APNs.Certificate]
        /// Also those that could not be read.
        var certificateFiles: [String]

        var areCertificatesComplete: Bool { certificateFiles.count == certificates.count }
    }

    /// - Parameter apns: the section whose certificates those are.
    mutating func readApps(
        _ section: JSONValue, _ apns: JSONValue?, _ certificates: [Configuration.APNs.Certificate]
    ) -> [Configuration.App] {
        let known = Known(
            keys: apns?["keys"]?.elements.compactMap { key($0) } ?? [], certificates: certificates,
            certificateFiles: apns?["certificates"]?.elements.compactMap { $0["file"]?.string } ?? [])
        return section.members.compactMap { name, value in
            guard let bundleID = name.string, let credentials = credentials(of: bundleID, name, value, known) else {
                return nil
            }
            let environment = value["environment"]?.string.flatMap { APNSEnvironment(rawValue: $0) } ?? .production
            if credentials[environment] == nil, let (other, credential) = credentials.first {
                complain(
                    value["environment"] ?? name,
                    "\(credential) does not serve \(environment.rawValue), where messages of \(bundleID) go that do not "
                        + "say it themselves: environment: \(other.rawValue)?")
            }
            return Configuration.App(bundleID: bundleID, credentials: credentials, environment: environment)
        }
    }

    private func key(_ value: JSONValue) -> (id: String, credentials: Credentials)? {
        guard let id = resolved(value["key_id"]) else { return nil }
        let name = Credential.Name.key(id: id, team: resolved(value["team_id"]) ?? "")
        return (id, Self.all(name, Self.environments(value)))
    }

    private func resolved(_ value: JSONValue?) -> String? { value?.string.flatMap { try? resolver.resolve($0) } }

    private static func all(_ name: Credential.Name, _ environments: some Sequence<APNSEnvironment>) -> Credentials {
        Dictionary(uniqueKeysWithValues: environments.map { ($0, name) })
    }

    private mutating func credentials(
        of bundleID: String, _ name: JSONValue, _ value: JSONValue, _ known: Known
    ) -> Credentials? {
        switch (value["key"], value["certificate"]) {
        case (nil, nil):
            return found(for: bundleID, name, known)
        case (let key?, nil):
            guard let id = text(key), !id.isEmpty else { return nil }
            if let named = known.keys.first(where: { $0.id == id }) { return named.credentials }
            complain(key, "apns.keys has no key \(id)\(Self.hint(id, known.keys.map(\.id)))")
        case (nil, let certificate?):
            return named(certificate, for: bundleID, known)
        case (.some, let certificate?):
            complain(certificate, "an app has either key or certificate")
        }
        return nil
    }

    private mutating func named(_ value: JSONValue, for bundleID: String, _ known: Known) -> Credentials? {
        guard let file = value.string else { return nil }
        guard let certificate = known.certificates.first(where: { $0.file == file }) else {
            if !known.certificateFiles.contains(file) {
                complain(value, "apns.certificates has no file \(file)\(Self.hint(file, known.certificateFiles))")
            }
            return nil
        }
        if !certificate.covers(bundleID) { complain(value, "\(certificate.told), not for \(bundleID)") }
        return Self.all(.certificate(certificate.name), certificate.contents.environments)
    }

    /// For an app that says nothing of it: the certificate that is for it, else the only key.
    private mutating func found(for bundleID: String, _ name: JSONValue, _ known: Known) -> Credentials? {
        var credentials = known.keys.count == 1 ? known.keys[0].credentials : [:]
        for environment in APNSEnvironment.allCases {
            let fitting = known.certificates.filter {
                $0.covers(bundleID) && $0.contents.environments.contains(environment)
            }
            guard fitting.count <= 1 else {
                complain(
                    name,
                    "which certificate? \(fitting.map(\.file).joined(separator: " and ")) are for it; say one of them as "
                        + "certificate")
                return nil
            }
            if let one = fitting.first { credentials[environment] = .certificate(one.name) }
        }
        guard credentials.isEmpty else { return credentials }
        if known.keys.count > 1 {
            complain(name, "which key? There are several in apns.keys; say one of them as key")
        } else if known.keys.isEmpty, known.areCertificatesComplete, !known.certificates.isEmpty {
            let others = known.certificates.map(\.told).joined(separator: "; ")
            complain(name, "no certificate is for \(bundleID): \(others)")
        }
        return nil
    }

    private static func hint(_ text: String, _ known: [String]) -> String {
        Suggestion.nearest(to: text, among: known).map { "; did you mean \($0)?" } ?? ""
    }
}

extension Configuration.APNs.Certificate {
    fileprivate var told: String { "\(file) is for \(name)" }
}
