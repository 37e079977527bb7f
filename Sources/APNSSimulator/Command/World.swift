import APNSProtocol
import Crypto
import TLS

/// What a process is started with: the state, the server's certificate, and the demonstration that either comes from.
/// Reads and writes files, so it is made before the loop runs.
struct World: Sendable {
    let document: StateDocument
    let tls: TLSContext
    /// nil when both state and certificate were given.
    let demonstration: Demonstration?
    /// Whether the team that the state knows is the demonstration's.
    let isDemonstrationState: Bool

    init(_ options: Options, nowMilliseconds: Int64) throws(SimulatorError) {
        let isDemonstrationState = options.stateFile == nil
        let needsDemonstration =
            isDemonstrationState || options.certificateFile == nil || options.demonstrationDirectory != nil
        demonstration = try SimulatorError.telling(.unavailable, "cannot make keys: ") { () throws(CryptoError) in
            needsDemonstration ? try Demonstration.make() : nil
        }
        self.isDemonstrationState = isDemonstrationState
        var document = try Self.document(options, demonstration, nowMilliseconds: nowMilliseconds)
        options.change(&document.state.rules)
        if options.acceptsUnknownDevices { document.state.unknownDevices = .active }
        if options.acceptsUnknownTopics { document.state.acceptsUnknownTopics = true }
        document.state.deviceRules =
            options.unregisteredPrefixes.map {
                DeviceRule(
                    prefix: $0,
                    condition: .unregistered(sinceMilliseconds: nowMilliseconds - Demonstration.dayMilliseconds))
            } + document.state.deviceRules
        self.document = document
        tls = try Self.tls(options, demonstration)
        if let directory = options.demonstrationDirectory {
            // A state of its own has its own keys: only what the client is to trust is written beside it.
            let files = isDemonstrationState ? DemonstrationFile.allCases : DemonstrationFile.ofServer
            try demonstration?.write(files, to: directory)
        }
    }

    private static func document(
        _ options: Options, _ demonstration: Demonstration?, nowMilliseconds: Int64
    ) throws(SimulatorError) -> StateDocument {
        if let path = options.stateFile {
            return try StateFile(path: path, sinceMilliseconds: nowMilliseconds - Demonstration.dayMilliseconds).read()
        }
        return try SimulatorError.telling(.unavailable) { () throws(CryptoError) in
            StateDocument(state: try demonstration?.state(nowMilliseconds: nowMilliseconds) ?? SimulatorState())
        }
    }

    private static func tls(_ options: Options, _ demonstration: Demonstration?) throws(SimulatorError) -> TLSContext {
        let identity: TLSIdentity
        if let certificate = options.certificateFile, let key = options.privateKeyFile {
            identity = TLSIdentity(
                certificateChainPEM: String(decoding: try TextFile.read(certificate), as: UTF8.self),
                privateKeyPEM: String(decoding: try TextFile.read(key), as: UTF8.self))
        } else if let demonstration {
            identity = TLSIdentity(
                certificateChainPEM: demonstration.server.certificatePEM,
                privateKeyPEM: demonstration.server.privateKeyPEM)
        } else {
            throw SimulatorError(.usage, "there is no certificate to serve with")
        }
        var configuration = TLSServerConfiguration(
            identity: identity, applicationProtocols: ["h2"],
            requiresApplicationProtocol: options.applicationProtocol == .required)
        // APNs asks every client for a certificate, and takes none for an answer.
        configuration.asksForAnyClientCertificate = true
        return try SimulatorError.telling(.badInput, "cannot use the server's certificate: ") {
            () throws(CryptoError) in try TLSContext(server: configuration)
        }
    }
}

extension Demonstration {
    /// Writes files into a directory, which is made if it is missing, over those that are there.
    func write(_ files: [DemonstrationFile], to directory: String) throws(SimulatorError) {
        try TextFile.makeDirectory(directory)
        for file in files {
            try TextFile.write(file.text(of: self), to: "\(directory)/\(file.rawValue)", isSecret: file.isSecret)
        }
    }
}
