import AMQP
import AdminHTTP
import ControlProtocol
import Delivery
import EventLoop
import JSON
import Telemetry

/// The commands of operators to the fleet, as far as they concern this worker. Runs on the control loop.
final class FleetCommands: StreamReaderHandler {
    /// The effects of commands.
    struct Actions {
        let report: (_ seconds: Int) -> Void
        let describe: (@escaping (WorkerSnapshot) -> Void) -> Void
        let pause: (PauseScope, PauseNote?, @escaping (AdminResponse) -> Void) -> Void
        let probe: (ProbeScope, @escaping (_ count: Int, _ silentLanes: Int) -> Void) -> Void
        let reply: (FleetReply) -> Void
    }

    private static let keyPrefix = "command."
    /// Maximum time until a requested record arrives, unless the stream was deleted and declared again.
    private static let knownSecondsMax = 5

    private let worker: String
    private let loop: EventLoop
    private let log: Log
    private let actions: Actions
    private var window: CommandWindow
    /// The timer for the arrival of the record that ``position()`` has requested.
    private var knownTimer: TimerToken?
    weak var reader: StreamReader?
    /// The exchange of operators; see ``FleetPauses/exchange``.
    private let exchange: String

    init(worker: String, exchange: String, in environment: LaneEnvironment, _ actions: Actions) {
        (self.worker, self.exchange) = (worker, exchange)
        (loop, log, self.actions) = (environment.loop, environment.log, actions)
        window = CommandWindow(worker: worker)
    }

    override func position() -> StreamPosition {
        switch window.position(at: loop.now.monotonic) {
        case .next: .next
        case .known(let offset): .offset(offset)
        }
    }

    override func attached() {
        let awaitsKnown = window.position(at: loop.now.monotonic) != .next
        window.attached()
        guard awaitsKnown else { return }
        knownTimer = loop.schedule(after: .seconds(Self.knownSecondsMax)) { [self] in
            knownTimer = nil
            // The offsets of a stream that was declared again are lower.
            window.streamDeleted()
            reader?.restart()
        }
    }

    /// Learns the offset of the newest record of the stream.
    func learned(offset: Int64) { window.learned(offset: offset) }

    private func cancelTimer() {
        if let timer = knownTimer.take() { loop.cancel(timer) }
    }

    override func detached(_ reason: AMQPError) {
        cancelTimer()
        // The offsets of a stream that was deleted begin again.
        if [.consumerCancelled, .notFound].contains(reason.code) { window.streamDeleted() }
        // The connection notices a loss by two missing heartbeats at the latest.
        window.detached(heardAt: loop.now.monotonic - .seconds(FleetLink.silentSecondsMax))
    }

    override func received(_ message: consuming StreamMessage) {
        cancelTimer()
        guard window.recordRead(offset: message.offset) else { return }
        // The stream also contains the audit of operators. The broker verifies the property `user-id`.
        guard message.exchange == exchange, message.routingKey.hasPrefix(Self.keyPrefix),
            message.properties.userID != nil
        else { return }
        let command: FleetCommand
        do throws(InputError) {
            command = try FleetCommand(json: message.body)
        } catch {
            return log.warning(.fleetRecordRefused, [.error: .string(error.message)])
        }
        let decision = window.decide(command, now: loop.now.monotonic)
        if decision == .ignore { return }
        log.info(
            .fleetCommand,
            [
                .fleetCommand: .string(command.action.name), .fleetOperator: .string(command.by),
                .pauseReason: command.why.map { .string($0) },
            ])
        switch decision {
        case .ignore: break
        case .busy: reply(to: command, .busy)
        case .unsupported(let name): reply(to: command, .unsupported, "unknown action: \(name)")
        case .run(let action): run(action, command)
        }
    }

    private func run(_ action: FleetCommand.Action, _ command: FleetCommand) {
        switch action {
        case .report(let seconds): actions.report(seconds)
        case .describe:
            actions.describe { [self] snapshot in
                actions.reply(FleetReply(to: command.id, from: worker, .done, status: snapshot.status))
            }
        case .pause(let scope): pause(scope, PauseNote(by: command.by, reason: command.why), command)
        case .resume(let scope): pause(scope, nil, command)
        case .probe(let scope): probe(scope, command)
        case .unsupported: reply(to: command, .unsupported)
        }
    }

    private func probe(_ scope: ProbeScope, _ command: FleetCommand) {
        actions.probe(scope) { [self] count, silentLanes in
            let isDone = silentLanes == 0
            actions.reply(
                FleetReply(
                    to: command.id, from: worker, isDone ? .done : .failed,
                    isDone ? nil : "\(silentLanes) lanes have not answered", probed: count))
        }
    }

    private func pause(_ scope: PauseScope, _ note: PauseNote?, _ command: FleetCommand) {
        actions.pause(scope, note) { [self] response in
            let sentence = String(decoding: response.body.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            reply(to: command, response.status == 200 ? .done : .failed, sentence)
        }
    }

    private func reply(to command: FleetCommand, _ outcome: FleetReply.Outcome, _ sentence: String? = nil) {
        actions.reply(FleetReply(to: command.id, from: worker, outcome, sentence))
    }
}
