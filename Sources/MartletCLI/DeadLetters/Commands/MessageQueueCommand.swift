import BrokerManagement
import BrokerTopology
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import Text

/// A command on dead letters, unrouted results or waiting requests: `martlet dead-letters …`, `martlet unrouted …`
/// and `martlet waits …`.
protocol MessageQueueCommand: ConfiguredCommand {
    var options: DeadLetterOptions { get }

    func execute(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode
}

extension MessageQueueCommand {
    func execute() throws(ConfigurationError) -> ExitCode {
        var choice = DeadLetterChoice(ids: Set(options.ids))
        if let text = options.filter {
            do throws(FilterError) {
                choice.filter = try Filter(text)
            } catch {
                let lines = error.lines(of: text, width: Terminal.error.width)
                Terminal.error.line("martlet: " + lines.joined(separator: "\n"))
                return .usage
            }
        }
        // With `--json`, a program reads the output and cannot answer a prompt.
        guard !options.needsConfirmation || (ConfirmationPrompt.isInteractive && !options.isJSON) else {
            let source = options.source
            var all = options
            all.choosesAll = true
            Terminal.error.line(
                ("martlet: \(source.resendWord) without an ID, --where or --limit sends every \(source.noun); to do "
                    + "so, run: \(all.command(CommandAdvice(options.broker)))").printable)
            return .usage
        }
        let connector = try options.broker.connector()
        var options = options
        let topology = try options.broker.topology()
        let queues = options.source.queues(of: topology)
        if options.source != .waits, let management = ManagementAccess(try options.broker.configuration()) {
            guard options.readDeliveryLimit(of: queues[0], management), Self.mayReplay(options, connector, management)
            else {
                return .failed
            }
        }
        let rules: RequestRules? =
            if options.sendsRequests, let path = options.broker.configPath {
                try ConfigurationFile(path).requestRules()
            } else { nil }
        let task = DeadLetterTask(
            connector: connector, queues: queues, options: options, choice: choice, rules: rules,
            hasFleetControl: topology.hasFleetControl)
        Interruption.block()
        guard options.locksQueue else { return CommandLoop.run { await execute(task, on: $0) } }
        return CommandLoop.run { loop in
            await task.withLock(on: loop, { await execute($0, on: loop) }, refused: { $0 })
        }
    }

    private static func mayReplay(
        _ options: DeadLetterOptions, _ connector: BrokerConnector, _ management: ManagementAccess
    ) -> Bool {
        guard options.source == .unrouted, options.action == .redrive, !options.isDryRun else { return true }
        do throws(ManagementClient.Failure) {
            let bindings = try ReplayBindings(connector.names, ManagementClient(management))
            guard let obstacle = bindings.obstacle(connector.names) else { return true }
            Terminal.error.line("martlet: \(CommandAdvice(options.broker).completed(obstacle))".printable)
            return false
        } catch {
            Terminal.error.line(
                "martlet: cannot check whether martlet watch or martlet publish --wait runs: \(error.message.printable); "
                    + "stop these commands before a replay")
            return true
        }
    }
}
