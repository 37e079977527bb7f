import AMQP
import CommandKit
import Configuration
import EventLoop

/// A reporter that prints on standard error why a command waits for its broker.
///
/// A reporter belongs to one loop. Only the loop's thread uses the reporter.
final class BrokerWait: SessionHandler {
    private let loop: EventLoop
    private let endpoints: [Endpoint]
    private var notice = BrokerNotice()
    private var timer: TimerToken?
    private var isEnded = false

    init(loop: EventLoop, connector: BrokerConnector) {
        self.loop = loop
        endpoints = connector.endpoints
    }

    /// Starts a connection, and reports its status until the connection closes or `end` is called.
    @discardableResult
    static func follow(_ connection: BrokerConnection, _ connector: BrokerConnector) -> BrokerWait {
        let wait = BrokerWait(loop: connection.loop, connector: connector)
        connection.start(wait)
        return wait
    }

    /// Stops all output.
    func end() { isEnded = true }

    override func statusChanged(_ status: BrokerStatus) {
        guard !isEnded else { return }
        print(notice.changed(to: status, now: loop.now))
        if !notice.isWaiting {
            if let timer { loop.cancel(timer) }
            timer = nil
        } else if timer == nil {
            timer = loop.schedule(after: .milliseconds(BrokerNotice.noticeDelayMilliseconds)) { [self] in
                print(notice.due(now: loop.now))
            }
        }
    }

    private func print(_ line: BrokerNotice.Line?) {
        if let line { Terminal.error.line(line.text(endpoints)) }
    }
}
