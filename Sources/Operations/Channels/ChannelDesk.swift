import APNS
import APNSProtocol
import Delivery
import EventLoop
import Telemetry

/// Takes the commands for broadcast channels of one version of the configuration.
///
/// `@unchecked Sendable`: touched on the control loop's thread only.
final class ChannelDesk: @unchecked Sendable {
    private let service: ChannelService
    private let managers: ChannelManagers

    /// - Parameter tokens: what the connections to APNs begin with.
    init(
        _ channels: Configuration.Channels, _ plan: WorkerPlan, loop: EventLoop,
        tokens: [Credential.Name: TokenSupply], metrics: MetricsRegistry, log: Log
    ) {
        let managers = ChannelManagers(plan.configuration, loop: loop, tokens: tokens)
        self.managers = managers
        service = ChannelService(
            loop: loop, connectors: plan.brokerAccess.connectors(on: loop), connection: plan.channelsConnection,
            names: plan.lane.names, replyPrefix: channels.replyPrefix, metrics: metrics, log: log
        ) { managers.find($0, $1) }
        service.start()
    }

    func take(_ news: TokenNews, of credential: Credential.Name) { managers.take(news, of: credential) }

    func close(deadlineSeconds: Int) async {
        await service.close(deadlineSeconds: deadlineSeconds)
        managers.close()
    }
}

/// One connection for each credential and environment that a command was for.
private final class ChannelManagers {
    private let configuration: Configuration
    private let loop: EventLoop
    private let tokens: [Credential.Name: TokenSupply]
    private var managers: [(name: Credential.Name, environment: APNSEnvironment, manager: ChannelManager)] = []

    init(_ configuration: Configuration, loop: EventLoop, tokens: [Credential.Name: TokenSupply]) {
        (self.configuration, self.loop, self.tokens) = (configuration, loop, tokens)
    }

    func find(_ app: String, _ environment: APNSEnvironment?) -> Result<ChannelService.Place, Refusal> {
        let access: ChannelAccess
        do throws(ChannelAccess.Failure) {
            access = try ChannelAccess(configuration, app: app, environment)
        } catch {
            return .failure(Refusal(.app, "unknown", path: "/app", "Nothing was done: \(error.message)."))
        }
        let (name, environment) = (access.pool.credential.name, access.pool.environment)
        if let known = managers.first(where: { $0.name == name && $0.environment == environment }) {
            return .success(.init(manager: known.manager, environment: environment))
        }
        let manager = ChannelManager(
            loop: loop, connector: access.connector(on: loop), configuration: access.pool, tokens: tokens[name])
        managers.append((name, environment, manager))
        return .success(.init(manager: manager, environment: environment))
    }

    func take(_ news: TokenNews, of credential: Credential.Name) {
        for known in managers where known.name == credential { known.manager.take(news) }
    }

    func close() { for known in managers { known.manager.close() } }
}
