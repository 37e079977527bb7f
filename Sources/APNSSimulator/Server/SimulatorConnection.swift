import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import TLS

/// One provider's connection: gathers its requests, asks the rules, sends the answers.
final class SimulatorConnection: HTTP2ServerDelegate {
    /// What becomes of a stream, in a slot that is used again.
    private struct Slot {
        /// 0 when the slot serves no request: it is free, or its stream was refused.
        var streamID: Int32 = 0
        var isWaiting = false
        /// Of its request in the log.
        var number = 0
    }

    /// Counts from 1, in the order in which connections are accepted.
    let number: Int
    /// What is remembered of it by the rules.
    var memory: ConnectionMemory
    private let server: SimulatorServer
    private let since: Int64
    private var requestsEnded = 0
    private var errorsSent = 0
    private var session: HTTP2Server?
    private var gate: ServerStreamGate
    /// Until the connection is open: who its client says it is.
    private var tls: TLSTransport?
    private var slots: [Slot] = []
    /// By slot, used again from stream to stream.
    private var requests: [Request] = []

    init(number: Int, server: SimulatorServer, service: Service, tls: TLSTransport?) {
        self.number = number
        self.server = server
        since = server.now.unixMilliseconds
        self.tls = tls
        memory = ConnectionMemory(service: service)
        gate = ServerStreamGate(mode: server.state.rules.gate, streamsMax: server.state.rules.streamsMax)
        super.init()
        session = HTTP2Server(
            loop: server.loop, delegate: self, settings: settings,
            limits: HTTP2Limits(headerBytesMax: Request.headerBytesMax, connectionWindowBytes: 16_777_216))
    }

    /// What the transport's bytes go to.
    var handler: ByteStreamHandler? { session }

    private var settings: HTTP2Settings {
        HTTP2Settings(
            maxConcurrentStreams: UInt32(clamping: gate.announced), initialWindowBytes: 65_535,
            maxHeaderListBytes: UInt32(APNSLimits.headerListBytesMax))
    }

    var summary: ConnectionSummary {
        ConnectionSummary(
            number: number, service: memory.service, sinceUnixMilliseconds: since, teamID: memory.boundKey?.teamID,
            keyID: memory.boundKey?.id, streamsOpen: gate.streams, streamsMax: gate.announced, requests: requestsEnded,
            errors: errorsSent)
    }

    /// Takes no more requests; ends when the streams that are open have.
    func shutDown() {
        session?.goAway(.noError, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
    }

    /// Ends at once.
    func abort() { session?.abort() }

    override func connected() {
        let certificate = tls?.peerCertificate
        tls = nil
        guard let certificate, let contents = try? CertificateContents(der: certificate) else { return }
        memory.present(PushCertificate(contents))
        switch memory.certificateFault(state: server.state, now: server.now) {
        case nil:
            // Who is known already gets more than one stream from the start.
            if gate.authenticated() { session?.update(settings) }
        case .badCertificateEnvironment:
            session?.goAway(
                .noError, lastStreamID: 0, debug: Answer.refused(.badCertificateEnvironment).bodyBytes)
        default: break
        }
    }

    override var wantsHeaderRepresentations: Bool { server.memory.keepsRepresentations }

    override func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {
        while slots.count <= stream.slot {
            slots.append(Slot())
            requests.append(Request())
        }
        guard gate.opened() else {
            slots[stream.slot].streamID = 0
            server.streamRefused()
            session?.reset(stream, .refusedStream)
            return
        }
        slots[stream.slot] = Slot(streamID: stream.id)
        requests[stream.slot].reset(keepsAll: server.memory.keepsHeaders)
    }

    override func requestHeader(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation
    ) {
        guard serves(stream) else { return }
        requests[stream.slot].addHeader(name: name, value: value, representation: representation)
    }

    override func requestBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {
        guard serves(stream) else { return }
        requests[stream.slot].addBody(bytes)
    }

    override func requestEnded(_ stream: HTTP2Stream) {
        guard serves(stream) else { return }
        slots[stream.slot].isWaiting = true
        requestsEnded += 1
        server.requestEnded(requests[stream.slot], stream, on: self)
    }

    override func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        gate.closed()
        guard serves(stream) else { return }
        if slots[stream.slot].isWaiting { server.requestAbandoned() }
        slots[stream.slot] = Slot()
    }

    override func closed(_ error: TransportError?) {
        for slot in slots where slot.isWaiting { server.requestAbandoned() }
        slots = []
        requests = []
        session = nil
        tls = nil
        server.closed(self)
    }

    private func serves(_ stream: HTTP2Stream) -> Bool {
        stream.slot < slots.count && slots[stream.slot].streamID == stream.id
    }

    /// Notes the number that a stream's request has in the log.
    func number(_ stream: HTTP2Stream, _ number: Int) {
        guard serves(stream) else { return }
        slots[stream.slot].number = number
    }

    /// Sends an answer; does nothing when the stream has ended meanwhile.
    func send(_ answer: Answer, isAuthenticated: Bool, on stream: HTTP2Stream) {
        guard let session, serves(stream), slots[stream.slot].isWaiting else { return }
        slots[stream.slot].isWaiting = false
        if answer.status >= 400 { errorsSent += 1 }
        session.respond(
            stream, status: answer.status,
            headers: server.headers(of: answer, to: requests[stream.slot], service: memory.service),
            body: answer.bodyBytes)
        if isAuthenticated, gate.authenticated() { session.update(settings) }
        server.answered(answer, to: slots[stream.slot].number, of: memory.service)
    }
}
