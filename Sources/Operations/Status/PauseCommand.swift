import Delivery
import HTTPClient
import JSON

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
        if options.isPaused, options.scope == .everything, !options.saysYes, Question.canBeAsked, !addresses.isEmpty {
            for line in addresses.flatMap(pauses) { Terminal.error.line(line) }
            let count = addresses.count == 1 ? "this worker" : "these \(addresses.count) workers"
            guard Question.askAtOnce("Pause everything? No request is taken by \(count).") else {
                Terminal.error.line("martlet: nothing was paused")
                return .failed
            }
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

    /// What is paused there already: who, why and since when.
    private func pauses(at address: WorkerAddress) -> [String] {
        guard let answer = try? address.ask(client, .get, "status"), let report = try? WorkerReport(answer) else {
            return []
        }
        return report.pauses.map { "\(report.worker): \($0.target) is \($0.text)".printable }
    }

    private func say(_ answer: HTTPResponse, of address: WorkerAddress) -> Bool {
        let sentence = (try? JSONDocument(answer.body))?.root["error"]?.string ?? answer.text
        let text = "\(address.text): \(sentence.filter { $0 != "\n" })".printable
        return answer.isSuccess ? Terminal.output.line(text) : Terminal.error.line("martlet: \(text)") && false
    }
}
