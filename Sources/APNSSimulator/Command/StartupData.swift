import APNSProtocol
import Crypto
import TLS

/// The data that the process starts with: the state, the server's TLS identity, and the demonstration. If no option
/// names a state file, the demonstration supplies the state. The same applies to the server certificate.
///
/// The initializer reads and writes files, so create the data before the event loop runs.
struct StartupData: Sendable {
    let document: StateDocument
    let tls: TLSContext
    /// The demonstration; nil if the options name both a state file and a certificate, and no directory to write to.
    let demonstration: Demonstration?
    /// Whether the state is the demonstration's.
    let isDemonstrationState: Bool

    init(_ options: Options, nowMilliseconds: Int64) throws(SimulatorError) {
        let isDemonstrationState = options.stateFile == nil
        let needsDemonstration =
            isDemonstrationState || options.certificateFile == nil || options.demonstrationDirectory != nil
        demonstration = try SimulatorError.converting(.unavailable, "cannot create keys: ") { () throws(CryptoError) in
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
            // A state file has its own keys, so the files of the demonstration's team are not written.
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
        return try SimulatorError.converting(.unavailable) { () throws(CryptoError) in
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
            throw SimulatorError(.usage, "a server certificate is required; pass --certificate and --private-key")
        }
        var configuration = TLSServerConfiguration(
            identity: identity, applicationProtocols: ["h2"],
            requiresApplicationProtocol: options.applicationProtocol == .required)
        // APNs requests a certificate from every client, but does not require one.
        configuration.requestsAnyClientCertificate = true
        return try SimulatorError.converting(.badInput, "cannot use the server's certificate: ") {
            () throws(CryptoError) in try TLSContext(server: configuration)
        }
    }
}

extension Demonstration {
    /// Writes files to a directory. Creates the directory if it is missing, and replaces existing files.
    func write(_ files: [DemonstrationFile], to directory: String) throws(SimulatorError) {
        try TextFile.makeDirectory(directory)
        for file in files {
            try TextFile.write(file.text(of: self), to: "\(directory)/\(file.rawValue)", isSecret: file.isSecret)
        }
    }
}
