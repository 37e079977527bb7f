import AMQP
import CommandKit
import EventLoop

/// Says on standard error what a command waits for while its broker is not there.
///
/// Belongs to one loop and is used on its thread only.
final class BrokerWait {
    private let loop: EventLoop
    private let endpoints: [Endpoint]
    private var notice = BrokerNotice()
    private var timer: TimerToken?

    init(loop: EventLoop, access: BrokerAccess) {
        self.loop = loop
        endpoints = access.endpoints
    }

    /// Hears the states of a connection from now on. To be called before it is started.
    static func follow(_ connection: BrokerConnection, _ access: BrokerAccess) {
        let wait = BrokerWait(loop: connection.loop, access: access)
        connection.onStateChange = { wait.changed($0) }
    }

    func changed(_ state: BrokerState) {
        say(notice.changed(to: state, now: loop.now))
        if !notice.isWaiting {
            if let timer { loop.cancel(timer) }
            timer = nil
        } else if timer == nil {
            timer = loop.schedule(after: .milliseconds(BrokerNotice.patienceMilliseconds)) { [self] in
                say(notice.due(now: loop.now))
            }
        }
    }

    private func say(_ line: BrokerNotice.Line?) {
        if let line { Terminal.error.line(line.text(endpoints)) }
    }
}
