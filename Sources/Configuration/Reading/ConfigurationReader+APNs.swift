import APNSProtocol
import Crypto
import EventLoop
import HTTPClient
import HTTPProxy
import JSON
import TLS

extension ConfigurationReader {
    mutating func readAPNs(_ section: JSONValue) -> WorkerConfiguration.APNs? {
        guard section.kind == .object else { return nil }
        if section["keys"] == nil, section["certificates"] == nil {
            complain(section, "apns requires keys or certificates")
        }
        var apns = WorkerConfiguration.APNs()
        apns.keys = readKeys(section["keys"])
        apns.certificates = readCertificates(section["certificates"])
        apns.production = readServer(section["endpoints"]?["production"], .production)
        apns.sandbox = readServer(section["endpoints"]?["sandbox"], .sandbox)
        apns.proxy = readProxy(section["proxy"], section)
        apns.connectionsMax = section["connections_max"]?.int
        apns.requestTimeoutSeconds = section["request_timeout_seconds"]?.int64
        if let socket = section["socket"] { apns.socket = connectOptions(socket, otherwise: apns.socket) }
        return apns
    }

    private mutating func readKeys(_ list: JSONValue?) -> [WorkerConfiguration.APNs.Key] {
        var keys: [WorkerConfiguration.APNs.Key] = []
        guard let list else { return keys }
        for value in list.elements {
            guard let key = readKey(value) else { continue }
            if keys.contains(where: { $0.keyID == key.keyID }) {
                complain(value["key_id"] ?? value, "duplicate key \(key.keyID)")
            }
            keys.append(key)
        }
        return keys
    }

    private mutating func readKey(_ value: JSONValue) -> WorkerConfiguration.APNs.Key? {
        let keyID = value["key_id"].flatMap { identifier($0, "a key ID") }
        let teamID = value["team_id"].flatMap { identifier($0, "a team ID") }
        let pem: [UInt8]
        let place: JSONValue
        var source = "the key file"
        switch (value["key_file"], value["private_key"]) {
        case (let keyFile?, nil):
            guard let bytes = file(keyFile) else { return nil }
            (pem, place) = (bytes, keyFile)
        case (nil, let privateKey?):
            guard let text = text(privateKey) else { return nil }
            (pem, place) = (Array(text.utf8), privateKey)
            source = Self.source(ofSecret: privateKey.string ?? "")
        default:
            if value.kind == .object { complain(value, "a key requires either key_file or private_key") }
            return nil
        }
        do {
            let privateKey = try ES256PrivateKey(pem: pem, source: source)
            guard let keyID, let teamID else { return nil }
            return WorkerConfiguration.APNs.Key(
                keyID: keyID, teamID: teamID, privateKey: privateKey,
                file: value["key_file"].flatMap { filePath($0) }, environments: Self.environments(value))
        } catch {
            complain(place, error.message)
            return nil
        }
    }

    /// Returns the origin of the text of a private key, for messages to operators.
    private static func source(ofSecret written: String) -> String {
        if written.hasPrefix("file:") { return "the file \(written.dropFirst("file:".count))" }
        guard written.hasPrefix("${"), written.firstIndex(of: "}") == written.index(before: written.endIndex) else {
            return "private_key"
        }
        return "environment variable \(written.dropFirst(2).dropLast())"
    }

    /// Returns the environments in which the key may be used.
    static func environments(_ key: JSONValue?) -> [APNSEnvironment] {
        guard let list = key?["environments"], list.kind == .array else { return APNSEnvironment.allCases }
        return APNSEnvironment.allCases.filter { environment in
            list.elements.contains { $0.string == environment.rawValue }
        }
    }

    private mutating func readCertificates(_ list: JSONValue?) -> [WorkerConfiguration.APNs.Certificate] {
        var certificates: [WorkerConfiguration.APNs.Certificate] = []
        guard let list else { return certificates }
        for value in list.elements {
            guard let certificate = readCertificate(value) else { continue }
            if let other = certificates.first(where: { $0.name == certificate.name }) {
                complain(
                    value["file"] ?? value, "duplicate certificate for \(certificate.name): \(other.file)")
            }
            certificates.append(certificate)
        }
        return certificates
    }

    private mutating func readCertificate(_ value: JSONValue) -> WorkerConfiguration.APNs.Certificate? {
        let passphrase = value["passphrase"].flatMap { text($0) }
        let key = value["key_file"].flatMap { file($0) }
        guard let file = value["file"], let bytes = self.file(file), let name = file.string,
            passphrase != nil || value["passphrase"] == nil, key != nil || value["key_file"] == nil
        else { return nil }
        do {
            let read = try CertificateFile(bytes, key: key, passphrase: passphrase) {
                !PushCertificate($0).topics.isEmpty
            }
            let contents = PushCertificate(read.contents)
            guard let topic = contents.topics.first else {
                complain(file, "an APNs certificate must name an app")
                return nil
            }
            let environment = contents.environments.count == 1 ? contents.environments.first : nil
            return WorkerConfiguration.APNs.Certificate(
                name: topic + (environment.map { "/\($0.rawValue)" } ?? ""), file: name,
                keyPath: filePath(value["key_file"] ?? file) ?? name,
                identity: TLSIdentity(certificateChainPEM: read.chainPEM, privateKeyPEM: read.privateKeyPEM),
                contents: contents)
        } catch {
            complain(file, error.message)
            return nil
        }
    }

    /// Reads the proxy. Without `apns.proxy`, the environment variables `HTTPS_PROXY` and `NO_PROXY` apply, or the same
    /// names in lower case.
    private mutating func readProxy(_ value: JSONValue?, _ section: JSONValue) -> WorkerConfiguration.APNs.Proxy? {
        guard let value else {
            guard let (variable, text) = ["HTTPS_PROXY", "https_proxy"].lazy.compactMap(environment).first else {
                return nil
            }
            let list = ["NO_PROXY", "no_proxy"].lazy.compactMap(environment).first?.value ?? ""
            return proxyURL(text, section, "\(variable) of the environment: ").map {
                .init(url: $0, exemptions: ProxyExemptions(list))
            }
        }
        guard let text = text(value), text != "none" else { return nil }
        return proxyURL(text, value, "").map { .init(url: $0) }
    }

    /// Returns a variable of the environment; nil if the variable is unset or empty.
    private func environment(_ name: String) -> (name: String, value: String)? {
        resolver.environment(name).flatMap { $0.isEmpty ? nil : (name, $0) }
    }

    private mutating func proxyURL(_ text: String, _ place: JSONValue, _ source: String) -> HTTPURL? {
        do {
            return try HTTPURL(text.contains("://") ? text : "http://\(text)")
        } catch {
            complain(place, source + error.message)
            return nil
        }
    }

    private mutating func readServer(
        _ value: JSONValue?, _ environment: APNSEnvironment
    ) -> WorkerConfiguration.APNs.Server {
        var server = WorkerConfiguration.APNs.Server(environment)
        guard let value else { return server }
        server.endpoint.host = value["host"].flatMap { text($0) } ?? server.endpoint.host
        server.endpoint.port = value["port"]?.int.flatMap { UInt16(exactly: $0) } ?? server.endpoint.port
        server.broadcastHost = value["broadcast_host"].flatMap { text($0) }
        let isApples = server.endpoint.host == environment.pushHost
        let channelHost = value["channel_host"].flatMap { text($0) }
        let channelPort = value["channel_port"]?.int.flatMap { UInt16(exactly: $0) }
        // Guess no endpoint for a host that is not Apple's. Provider tokens are sent only to Apple and to endpoints
        // that the configuration names.
        server.channelEndpoint = (channelPort ?? (isApples ? environment.channelPort : nil)).map { port in
            Endpoint(host: channelHost ?? (isApples ? environment.channelHost : server.endpoint.host), port: port)
        }
        server.trust = readTrust(value["ca_file"])
        return server
    }

    /// Reads an identifier of ten letters and digits, which Apple assigned. Reports other texts, because APNs would
    /// respond only with `InvalidProviderToken`.
    private mutating func identifier(_ value: JSONValue, _ what: String) -> String? {
        guard let text = text(value) else { return nil }
        let isIdentifier = text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        if !isIdentifier { complain(value, "\(what) must be 10 letters or digits") }
        return isIdentifier ? text : nil
    }
}
