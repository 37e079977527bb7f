import APNSProtocol
import Crypto
import TLS
import YAML

/// What a process is started with: the state, the server's certificate, and the demonstration that either comes from.
/// Reads and writes files, so it is made before the loop runs.
struct World: Sendable {
    let state: SimulatorState
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
        var state = try Self.state(options, demonstration, nowMilliseconds: nowMilliseconds)
        options.change(&state.rules)
        if options.acceptsUnknownDevices { state.unknownDevices = .active }
        if options.acceptsUnknownTopics { state.acceptsUnknownTopics = true }
        state.deviceRules =
            options.unregisteredPrefixes.map {
                DeviceRule(prefix: $0, condition: .unregistered(sinceMilliseconds: nowMilliseconds - dayMilliseconds))
            } + state.deviceRules
        self.state = state
        tls = try Self.tls(options, demonstration)
        if let directory = options.demonstrationDirectory { try demonstration?.write(to: directory) }
    }

    private static func state(
        _ options: Options, _ demonstration: Demonstration?, nowMilliseconds: Int64
    ) throws(SimulatorError) -> SimulatorState {
        guard let path = options.stateFile else {
            return try SimulatorError.telling(.unavailable) { () throws(CryptoError) in
                try demonstration?.state(nowMilliseconds: nowMilliseconds) ?? SimulatorState()
            }
        }
        let text = try TextFile.read(path)
        let document = try SimulatorError.telling(.badInput) { () throws(YAMLError) in
            try YAMLDocument(text, file: path)
        }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        return try StateFile(
            name: path, sinceMilliseconds: nowMilliseconds - dayMilliseconds,
            position: { document.position(of: $0) },
            readFile: { file throws(SimulatorError) in
                try TextFile.read(file.hasPrefix("/") ? file : directory + file)
            }
        ).read(document.root)
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

private let dayMilliseconds: Int64 = 86_400_000

extension Demonstration {
    /// Writes its files into a directory, which is made if it is missing, over those that are there.
    func write(to directory: String) throws(SimulatorError) {
        try TextFile.makeDirectory(directory)
        for file in DemonstrationFile.allCases {
            try TextFile.write(file.text(of: self), to: "\(directory)/\(file.rawValue)", isSecret: file.isSecret)
        }
    }
}
