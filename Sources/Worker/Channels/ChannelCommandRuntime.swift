import APNS
import Configuration
import Delivery
import EventLoop

/// The execution of channel commands with one version of the configuration.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class ChannelCommandRuntime: @unchecked Sendable {
    private let service: ChannelCommandConsumer
    private let clients: ChannelClients

    /// Creates the connections to the broker and starts to consume commands.
    ///
    /// - Parameter tokens: the provider tokens with which connections to APNs start.
    init(
        _ channels: WorkerConfiguration.Channels, _ components: WorkerComponents,
        tokens: [Credential.Name: TokenSupply],
        in environment: LaneEnvironment
    ) {
        let loop = environment.loop
        let clients = ChannelClients(components.configuration, loop: loop, tokens: tokens)
        self.clients = clients
        service = ChannelCommandConsumer(
            consuming: components.connection(for: "channels consume", on: loop),
            publishing: components.connection(for: "channels publish", on: loop), names: components.lane.names,
            replyPrefix: channels.replyPrefix, metrics: environment.metrics, log: environment.log,
            completeRemedy: environment.commands.completed
        ) { clients.find($0, $1) }
        service.start()
    }

    var status: ChannelCommandConsumer.Status { service.status }

    func apply(_ update: ProviderTokenUpdate, of credential: Credential.Name) { clients.apply(update, of: credential) }

    func close(deadlineSeconds: Int) async {
        await service.close(deadlineSeconds: deadlineSeconds)
        clients.close()
    }
}
