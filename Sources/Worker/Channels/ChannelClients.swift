import APNS
import APNSProtocol
import Configuration
import Delivery
import EventLoop

/// Clients of APNs channel management: one for each pair of credential and environment, created with its first command.
final class ChannelClients {
    private let configuration: WorkerConfiguration
    private let loop: EventLoop
    /// The newest provider tokens. A new client needs them, because its first command may arrive hours after the start
    /// of the worker.
    private(set) var tokens: [Credential.Name: TokenSupply]
    private var clients: [(name: Credential.Name, environment: APNSEnvironment, client: ChannelClient)] = []

    /// Creates the collection without clients.
    ///
    /// - Parameter tokens: the current provider tokens.
    init(_ configuration: WorkerConfiguration, loop: EventLoop, tokens: [Credential.Name: TokenSupply]) {
        (self.configuration, self.loop, self.tokens) = (configuration, loop, tokens)
    }

    func find(_ app: String, _ environment: APNSEnvironment?) -> Result<ChannelCommandConsumer.Place, RequestViolation>
    {
        do throws(ChannelAccess.Failure) {
            let place = try ChannelPlace(configuration, app: app, environment)
            return .success(.init(client: try client(at: place), environment: place.environment))
        } catch {
            return .failure(
                RequestViolation(.app, "unknown", path: "/app", "The command was not executed: \(error.message)."))
        }
    }

    private func client(at place: ChannelPlace) throws(ChannelAccess.Failure) -> ChannelClient {
        let (name, environment) = (place.credential, place.environment)
        let known = clients.first { $0.name == name && $0.environment == environment }
        if let known { return known.client }
        let access = try ChannelAccess(configuration, place)
        let client = ChannelClient(
            loop: loop, connector: access.connector(on: loop), configuration: access.pool, tokens: tokens[name])
        clients.append((name, environment, client))
        return client
    }

    func apply(_ update: ProviderTokenUpdate, of credential: Credential.Name) {
        if case .newest(let token) = update { tokens[credential]?.first = token }
        for known in clients where known.name == credential { known.client.apply(update) }
    }

    func close() { for known in clients { known.client.close() } }
}
