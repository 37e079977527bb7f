import APNSProtocol
import Crypto
import JSON

extension StateCodec {
    /// Maximum bytes of a team ID or key ID. Apple's IDs have ten bytes.
    private static let idBytesMax = 64

    var team: ObjectCodec<StateTeam> {
        let (app, key, certificate) = (appOrBundleID, key, certificate)
        return ObjectCodec(
            "a team", from: StateTeam(state: SimulatorState()),
            [
                .identity("id", \.id, .text(1...Self.idBytesMax), "team ID"),
                .list(
                    "apps", "bundle IDs, or objects",
                    read: { json, team throws(InputError) in try team.addNew(try app.read(json, "an app")) },
                    elements: { team in team.state.apps(teamID: team.id).map { AppMembers($0) } },
                    write: { app.write($0, to: &$1) }),
                .list(
                    "keys", "keys for provider tokens",
                    read: { json, team throws(InputError) in
                        try team.addNew(try key.read(json).key(teamID: team.id))
                    },
                    elements: { team in team.state.keys(teamID: team.id).map { KeyMembers($0) } },
                    write: { key.write($0, to: &$1) }),
                .list(
                    "certificates", "certificates of providers",
                    read: { json, team throws(InputError) in
                        team.state.add(try certificate.read(json).certificate(teamID: team.id))
                    },
                    elements: { team in team.state.certificates(teamID: team.id).map { CertificateMembers($0) } },
                    write: { certificate.write($0, to: &$1) }),
            ])
    }

    var app: ObjectCodec<AppMembers> {
        ObjectCodec(
            "an app", from: AppMembers(),
            [
                .identity("bundle_id", \.bundleID, .bundleID, "bundle ID"),
                .member("broadcast", \.allowsBroadcasts, .bool, "whether the app may broadcast to channels"),
            ],
            check: { app, members throws(InputError) in
                // If the bundle ID comes from a URL, no codec has checked it.
                guard ValueCodec.isBundleID(app.bundleID) else {
                    throw members.error("bundle_id", "must be \(ValueCodec.bundleIDForm)")
                }
            })
    }

    /// The codec of an app as an object, or as its bundle ID only.
    private var appOrBundleID: ValueCodec<AppMembers> {
        app.value.abbreviated(.bundleID, expand: { AppMembers(bundleID: $0) }, abbreviate: { _ in nil })
    }

    var key: ObjectCodec<KeyMembers> {
        ObjectCodec(
            "a key", from: KeyMembers(),
            [
                .identity("id", \.id, .text(1...Self.idBytesMax), "key ID"),
                pem("public_key", \.publicKeyPEM),
                .member(
                    "environments", \.environments, .environments,
                    "environments in which the key is valid (default: both)"),
                .optional(
                    "topics", \.topics, .topics, "bundle IDs of the key (default: all bundle IDs of the team)"),
                .optional(
                    "related_key", \.relatedKeyID, .text(1...Self.idBytesMax),
                    "ID of another key with topics; tokens of both keys may share a connection"),
                .member("revoked", \.isRevoked, .bool, "whether tokens of the key are refused"),
            ],
            check: { key, members throws(InputError) in
                guard key.relatedKeyID == nil || key.topics != nil else {
                    throw members.error("related_key", "requires topics")
                }
            })
    }

    var certificate: ObjectCodec<CertificateMembers> {
        ObjectCodec(
            "a certificate", from: CertificateMembers(),
            [
                pem("certificate", \.pem),
                .member("revoked", \.isRevoked, .bool, "whether TLS refuses the certificate"),
            ])
    }

    /// Returns the fields for a PEM text: `name` for the text, and `name_file` for the path of a file.
    private func pem<Object>(_ name: String, _ path: ObjectField<Object>.Path<String?>) -> ObjectField<Object> {
        let fileName = "\(name)_file"
        let codec = ObjectCodec(
            "PEM", from: PEMMembers(),
            [
                .optional(name, \.text, .any("a PEM text"), "PEM text"),
                .optional(fileName, \.path, .any("a path"), "path of a PEM file, instead of `\(name)`"),
            ])
        return .group(
            codec, get: { PEMMembers(text: $0[keyPath: path]) },
            set: { [readFile] pem, members, object throws(InputError) in
                guard pem.text == nil || pem.path == nil else {
                    throw members.error("\(name) and \(fileName) are mutually exclusive")
                }
                object[keyPath: path] = pem.text
                guard let file = pem.path else { return }
                guard let readFile else {
                    throw members.error(fileName, "is valid in state files only; pass the text as \(name)")
                }
                do throws(InputError) {
                    object[keyPath: path] = String(decoding: try readFile(file), as: UTF8.self)
                } catch {
                    throw members.error(fileName, "is invalid: \(error.message)")
                }
            })
    }
}

extension StateTeam {
    fileprivate mutating func addNew(_ app: AppMembers) throws(InputError) {
        if let known = state.app(bundleID: app.bundleID) {
            throw InputError("app \(app.bundleID) already belongs to team \(known.teamID)")
        }
        state.addApp(bundleID: app.bundleID, teamID: id, allowsBroadcasts: app.allowsBroadcasts)
    }

    fileprivate mutating func addNew(_ key: RegisteredKey) throws(InputError) {
        guard state.key(id: key.id) == nil else { throw InputError("key \(key.id) already exists") }
        state.add(key)
    }
}
