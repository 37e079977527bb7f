import CommandKit
import Configuration
import ControlProtocol
import Delivery
import HTTPClient
import Text

/// A pause or resumption of workers.
struct PauseChange: Equatable, Sendable {
    /// Whether to pause; false to resume.
    var isPaused: Bool
    var scope = PauseScope.everything
    /// The worker; nil for all workers of this user on this machine.
    var worker: WorkerAddress?
    var reason: String?
    var saysYes = false

    func run() -> ExitCode {
        let client = HTTPClient()
        let addresses = WorkerAddress.all(named: worker)
        if isPaused, scope == .everything, !saysYes, ConfirmationPrompt.isInteractive,
            !confirms(addresses.compactMap { $0.status(client, isNamed: worker != nil) })
        {
            Terminal.error.line("martlet: nothing paused")
            return .failed
        }
        var reached = 0
        var isDone = true
        for address in addresses {
            do {
                let answer = try send(to: address, client)
                reached += 1
                isDone = show(answer, of: address) && isDone
            } catch {
                // The socket of a killed process remains.
                if worker == nil, error.code == .cannotConnect { continue }
                Terminal.error.line("martlet: \(error.message)".printable)
                isDone = false
            }
        }
        guard reached > 0 else {
            if worker == nil { Terminal.error.line("martlet: \(ControlSocket.advice); pass --socket PATH") }
            return .unreachable
        }
        return isDone ? .success : .failed
    }

    private func send(to address: WorkerAddress, _ client: HTTPClient) throws(HTTPError) -> HTTPResponse {
        let path = isPaused ? "pause" : "resume"
        let note = isPaused ? PauseNote(by: PauseNote.user, reason: reason).query : []
        let answer = try address.request(client, .post, path, scope.query + note)
        // Workers of earlier versions refuse a note.
        guard answer.status == 400, !note.isEmpty else { return answer }
        return try address.request(client, .post, path, scope.query)
    }

    /// Shows current pauses with their user, reason and duration, then asks for confirmation. Returns the answer;
    /// true if no worker runs.
    private func confirms(_ workers: [Result<StatusAnswer, StatusError>]) -> Bool {
        guard !workers.isEmpty else { return true }
        for status in workers.compactMap({ try? $0.get().status }) {
            for pause in status.pauses {
                Terminal.error.line("\(status.worker): \(pause.target) is \(pause.text)".printable)
            }
        }
        let count = workers.count == 1 ? "This worker" : "These \(workers.count) workers"
        return ConfirmationPrompt.confirmImmediately("Pause everything? \(count) will consume no requests.")
    }

    private func show(_ answer: HTTPResponse, of address: WorkerAddress) -> Bool {
        let text = "\(address.text): \(answer.workerSentence.filter { $0 != "\n" })".printable
        return answer.isSuccess ? Terminal.output.line(text) : Terminal.error.line("martlet: \(text)") && false
    }
}

extension PauseChange {
    /// The options of `martlet pause` and `martlet resume`.
    static let options = [
        WorkerAddress.socketOption,
        OptionSyntax(name: "key", value: "KEY-ID", help: "only pushes with this key"),
        OptionSyntax(name: "certificate", value: "NAME", help: "only pushes with this certificate"),
        OptionSyntax(name: "topic", value: "TOPIC", help: "only pushes to this topic"),
    ]

    init(isPaused: Bool, _ parsed: ParsedArguments) throws(UsageError) {
        self.init(
            isPaused: isPaused,
            scope: try PauseScope(
                { parsed.options[$0] }, exclude: { UsageError("options --\($0) and --\($1) are mutually exclusive") }),
            worker: try WorkerAddress(parsed), reason: parsed.options["reason"], saysYes: parsed.has("yes"))
    }
}
