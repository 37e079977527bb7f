import ControlProtocol
import HTTPClient
import JSON

/// A worker's response to `GET /status`.
struct StatusAnswer: Sendable {
    let status: WorkerStatus
    /// The response body as the worker wrote it, on one line.
    let json: String

    init(_ answer: HTTPResponse) throws(StatusError) {
        guard answer.isSuccess, let document = try? JSONDocument(answer.body), document.root["worker"] != nil else {
            throw StatusError(message: "the answer (status \(answer.status)) is not from a worker's admin endpoint")
        }
        do throws(InputError) {
            status = try WorkerStatus.codec.read(document.root)
        } catch {
            throw StatusError(message: "cannot read the worker's status: \(error.message)")
        }
        var line = JSONWriter(capacity: answer.body.count)
        // Line ends occur only between values, because strings contain line ends only as escapes.
        line.raw(escaping: answer.text.utf8.filter { $0 != UInt8(ascii: "\n") })
        json = String(decoding: line.bytes, as: UTF8.self)
    }
}

struct StatusError: Error {
    var message: String
}

extension WorkerAddress {
    /// Requests the status of the worker.
    ///
    /// - Parameter isNamed: whether the operator named the worker. A socket without a process is then an error.
    /// - Returns: nil for a socket whose process has ended, unless the operator named the worker.
    func status(_ client: HTTPClient, isNamed: Bool) -> Result<StatusAnswer, StatusError>? {
        let answer: HTTPResponse
        do {
            answer = try request(client, .get, "status")
        } catch {
            if !isNamed, error.code == .cannotConnect { return nil }
            return .failure(StatusError(message: error.message))
        }
        return Result { () throws(StatusError) in try StatusAnswer(answer) }
    }
}
