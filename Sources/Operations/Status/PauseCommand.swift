import Delivery
import HTTPClient
import JSON

/// Pauses or resumes workers.
struct PauseCommand {
    let isPaused: Bool
    let scope: PauseScope
    /// nil: all of this user's on this machine.
    let worker: WorkerAddress?

    func run() -> ExitCode {
        let client = HTTPClient()
        var reached = 0
        var isDone = true
        for address in WorkerAddress.all(named: worker) {
            do {
                let answer = try address.ask(client, .post, isPaused ? "pause" : "resume", scope.query)
                reached += 1
                isDone = say(answer, of: address) && isDone
            } catch {
                // Without a process behind it a socket means nothing.
                if worker == nil, error.code == .cannotConnect { continue }
                Terminal.error.line("martlet: \(error.message)".printable)
                isDone = false
            }
        }
        guard reached > 0 else {
            if worker == nil { Terminal.error.line("martlet: \(ControlSocket.advice); --socket names one") }
            return .unreachable
        }
        return isDone ? .success : .failed
    }

    private func say(_ answer: HTTPResponse, of address: WorkerAddress) -> Bool {
        let sentence = (try? JSONDocument(answer.body))?.root["error"]?.string ?? answer.text
        let text = "\(address.text): \(sentence.filter { $0 != "\n" })".printable
        return answer.isSuccess ? Terminal.output.line(text) : Terminal.error.line("martlet: \(text)") && false
    }
}
