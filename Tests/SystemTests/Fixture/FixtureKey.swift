import Crypto
import TestKit

/// A provider key of the demonstration's team, and the apps that use it.
struct FixtureKey {
    let id: String
    let apps: [String]
    /// The environments in which APNs accepts the key.
    let environments: [String]
    /// Whether the worker's configuration limits the key to these environments.
    let isPinned: Bool
    private let privateKey: ES256PrivateKey

    init(
        _ id: String, apps: [String], environments: [String] = ["production", "sandbox"], isPinned: Bool = false
    ) throws {
        self.init(id, apps: apps, environments: environments, isPinned: isPinned, try .generate())
    }

    /// Returns the same key for other apps.
    func with(apps: [String]) -> FixtureKey {
        FixtureKey(id, apps: apps, environments: environments, isPinned: isPinned, privateKey)
    }

    private init(
        _ id: String, apps: [String], environments: [String], isPinned: Bool, _ privateKey: ES256PrivateKey
    ) {
        (self.id, self.apps, self.environments) = (id, apps, environments)
        (self.isPinned, self.privateKey) = (isPinned, privateKey)
    }

    var fileName: String { "\(id).p8" }

    /// The content of the key file.
    var pem: String { get throws { try privateKey.pkcs8PEM() } }

    /// Registers key and apps at the simulator, and writes the key file.
    func register(at simulator: SimulatorProcess, in directory: TemporaryDirectory) async throws {
        try directory.write(fileName, pem)
        try await register(at: simulator)
    }

    /// Registers key and apps at the simulator.
    func register(at simulator: SimulatorProcess) async throws {
        for app in apps { try await simulator.request("PUT", "/v1/teams/DEMOTEAM01/apps/\(app)", "{}") }
        try await simulator.register(id, privateKey)
        try await allow(environments, at: simulator)
    }

    func allow(_ environments: [String], at simulator: SimulatorProcess) async throws {
        let list = environments.map { #""\#($0)""# }.joined(separator: ",")
        try await change(at: simulator, #"{"environments":[\#(list)]}"#)
    }

    func revoke(_ isRevoked: Bool = true, at simulator: SimulatorProcess) async throws {
        try await change(at: simulator, #"{"revoked":\#(isRevoked)}"#)
    }

    private func change(at simulator: SimulatorProcess, _ body: String) async throws {
        try await simulator.request("PUT", "/v1/teams/DEMOTEAM01/keys/\(id)", body)
    }
}
