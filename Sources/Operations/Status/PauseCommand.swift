import Delivery
import HTTPClient
import JSON
import Text

/// Pauses or resumes workers.
struct PauseCommand {
    struct Options: Equatable, Sendable {
        var isPaused: Bool
        var scope = PauseScope.everything
        /// nil: all of this user's on this machine.
        var worker: WorkerAddress?
        var reason: String?
        var saysYes = false
    }

    let options: Options
    private let client = HTTPClient()

    init(options: Options) { self.options = options }

    func run() -> ExitCode {
        let addresses = WorkerAddress.all(named: options.worker)
        if options.isPaused, options.scope == .everything, !options.saysYes, Question.canBeAsked,
            !confirms(addresses.compactMap { $0.report(client, isNamed: options.worker != nil) })
        {
            Terminal.error.line("martlet: nothing was paused")
            return .failed
        }
        var reached = 0
        var isDone = true
        for address in addresses {
            do {
                let answer = try ask(address)
                reached += 1
                isDone = say(answer, of: address) && isDone
            } catch {
                // Without a process behind it a socket means nothing.
                if options.worker == nil, error.code == .cannotConnect { continue }
                Terminal.error.line("martlet: \(error.message)".printable)
                isDone = false
            }
        }
        guard reached > 0 else {
            if options.worker == nil { Terminal.error.line("martlet: \(ControlSocket.advice); --socket names one") }
            return .unreachable
        }
        return isDone ? .success : .failed
    }

    private func ask(_ address: WorkerAddress) throws(HTTPError) -> HTTPResponse {
        let path = options.isPaused ? "pause" : "resume"
        let note = options.isPaused ? PauseNote(by: PauseNote.user, reason: options.reason).query : []
        let answer = try address.ask(client, .post, path, options.scope.query + note)
        // A worker of an earlier version knows no note.
        guard answer.status == 400, !note.isEmpty else { return answer }
        return try address.ask(client, .post, path, options.scope.query)
    }

    /// Shows what is paused already: who, why and since when. Asks unless there is no worker.
    private func confirms(_ workers: [Result<WorkerReport, WorkerReportError>]) -> Bool {
        guard !workers.isEmpty else { return true }
        for report in workers.compactMap({ try? $0.get() }) {
            for pause in report.pauses {
                Terminal.error.line("\(report.worker): \(pause.target) is \(pause.text)".printable)
            }
        }
        let count = workers.count == 1 ? "this worker" : "these \(workers.count) workers"
        return Question.askAtOnce("Pause everything? No request is taken by \(count).")
    }

    private func say(_ answer: HTTPResponse, of address: WorkerAddress) -> Bool {
        let sentence = (try? JSONDocument(answer.body))?.root["error"]?.string ?? answer.text
        let text = "\(address.text): \(sentence.filter { $0 != "\n" })".printable
        return answer.isSuccess ? Terminal.output.line(text) : Terminal.error.line("martlet: \(text)") && false
    }
}
