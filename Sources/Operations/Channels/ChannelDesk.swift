import APNS
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
        tokens: [Credential.Name: TokenSupply], metrics: MetricsRegistry, log: Log, commands: CommandAdvice
    ) {
        let managers = ChannelManagers(plan.configuration, loop: loop, tokens: tokens)
        self.managers = managers
        service = ChannelService(
            consuming: plan.channelsConnection(for: "consume", on: loop),
            publishing: plan.channelsConnection(for: "publish", on: loop), names: plan.lane.names,
            replyPrefix: channels.replyPrefix, metrics: metrics, log: log, completeRemedy: commands.completed
        ) { managers.find($0, $1) }
        service.start()
    }

    var status: ChannelService.Status { service.status }

    func take(_ news: TokenNews, of credential: Credential.Name) { managers.take(news, of: credential) }

    func close(deadlineSeconds: Int) async {
        await service.close(deadlineSeconds: deadlineSeconds)
        managers.close()
    }
}
