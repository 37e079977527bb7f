import EventLoop
import HTTP2

extension SimulatorServer {
    /// Counts the ID of a request and logs the request. Returns the request's number in the log; 0 if the request was
    /// not logged.
    func remember(
        _ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection, _ struck: FaultedRequest
    ) -> Int {
        let id = request.loggedID
        let isDuplicate = struck.isProcessed && id.map { memory.isDuplicate($0) } ?? false
        if id == nil {
            counts.requestsWithoutID += 1
        } else if isDuplicate {
            counts.duplicateIDs += 1
        } else if struck.isProcessed {
            counts.distinctIDs += 1
        }
        guard isDuplicate || memory.keepsHeaders else { return 0 }
        let answer = struck.response.answer
        var entry = logEntry(request, stream, on: connection)
        (entry.status, entry.isDuplicate) = (UInt16(clamping: answer?.status ?? 0), isDuplicate)
        entry.detail = struck.response.detail
        return memory.add(request, entry, reason: answer?.reason, faultID: struck.faultID)
    }

    func logEntry(
        _ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection
    ) -> RequestLog.Entry {
        RequestLog.Entry(
            unixMilliseconds: now.unixMilliseconds, connection: connection.number,
            payloadByteCount: request.bodyByteCount, id: request.loggedID, service: connection.memory.service,
            stream: stream.id, status: 0, hasCertificate: connection.memory.presented != nil)
    }
}
