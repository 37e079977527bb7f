import APNSProtocol
import Crypto
import JSON
import TestKit

/// A provider certificate of a team with one app, and the files from which a worker reads it.
struct FixtureCertificate {
    enum Form: CaseIterable {
        case pem
        /// A PEM file that also contains the intermediate authority's certificate.
        case chain
        /// A PEM file without the private key, which is in a separate, encrypted file.
        case encryptedKey
        case pkcs12
        /// PKCS #12 with legacy algorithms, as exported by macOS's Keychain Access.
        case keychain
    }

    private static let passphrase = "open sesame"
    private static let authority = try! CertificateAuthority.make(name: "System tests")
    private static let intermediate = try! authority.intermediate(name: "System tests, below")

    let app: String
    let form: Form
    private let issued: IssuedCertificate

    init(_ app: String, _ form: Form = .pem) throws {
        self.app = app
        self.form = form
        issued = try (form == .chain ? Self.intermediate : Self.authority).issueClient(
            name: "Apple Push Services: \(app)", userID: app,
            extensions: PushCertificate.extensions(environments: [.production], topics: [(app, "app")]))
    }

    /// The name that logs and commands show.
    var name: String { "\(app)/production" }

    /// An entry of `apns.certificates`.
    var entry: String {
        switch form {
        case .pem, .chain: "{file: \(app).pem}"
        case .encryptedKey: "{file: \(app).pem, key_file: \(app).key, passphrase: \"file:passphrase\"}"
        case .pkcs12, .keychain: "{file: \(app).p12, passphrase: \"file:passphrase\"}"
        }
    }

    /// Registers team, app and certificate at the simulator, and writes the files.
    func register(at simulator: SimulatorProcess, in directory: TemporaryDirectory) async throws {
        try directory.write("passphrase", Self.passphrase + "\n")
        try directory.write("\(app).pem", form == .pem || form == .chain ? pem : issued.certificatePEM)
        let plainKey = try directory.write("\(app).plain", issued.privateKeyPEM)
        let (certificate, key) = (directory.file("\(app).pem"), directory.file("\(app).key"))
        let output = ["-passout", "pass:\(Self.passphrase)"]
        switch form {
        case .pem, .chain: break
        case .encryptedKey:
            try await Self.openssl(["pkcs8", "-topk8", "-in", plainKey, "-out", key] + output)
        case .pkcs12, .keychain:
            try await Self.openssl(
                ["pkcs12", "-export", "-in", certificate, "-inkey", plainKey, "-out", directory.file("\(app).p12")]
                    + (form == .keychain ? ["-legacy"] : []) + output)
        }
        try await register(at: simulator)
    }

    /// Registers team, app and certificate at the simulator.
    func register(at simulator: SimulatorProcess) async throws { try await revoke(false, at: simulator) }

    /// The certificate, its private key and the intermediate certificate, if any, in PEM.
    var pem: String {
        issued.certificatePEM + issued.privateKeyPEM + (form == .chain ? Self.intermediate.certificatePEM : "")
    }

    func revoke(_ isRevoked: Bool = true, at simulator: SimulatorProcess) async throws {
        var json = JSONWriter()
        json.beginObject()
        json.key("certificate")
        json.string(issued.certificatePEM)
        json.key("revoked")
        json.bool(isRevoked)
        json.endObject()
        let certificate = String(decoding: json.bytes, as: UTF8.self)
        try await simulator.request(
            "PUT", "/v1/teams/\(team)", #"{"apps":["\#(app)"],"certificates":[\#(certificate)]}"#)
    }

    private var team: String { "TEAM." + app }

    private static func openssl(_ arguments: [String]) async throws {
        let result = try await ChildProcess.run(["openssl"] + arguments)
        guard result.exit.status == .exited(0) else { throw ProcessError("cannot run openssl: \(result.errors)") }
    }
}
