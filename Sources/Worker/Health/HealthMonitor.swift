import Configuration
import EventLoop
import Glibc
import Telemetry

/// Periodic duties of the control loop: checks of lanes, renewal of tokens, log lines, systemd notifications.
final class HealthMonitor {
    private let groups: LaneGroups
    private let loop: EventLoop
    private let log: Log
    private let systemd: SystemdNotifier
    private var minute: MinuteReport

    init(_ groups: LaneGroups, in environment: LaneEnvironment) {
        (self.groups, loop, log) = (groups, environment.loop, environment.log)
        systemd = SystemdNotifier(Environment.value, processID: getpid(), log: log)
        minute = MinuteReport(environment.metrics)
    }

    /// Reports to systemd that the worker has started. Starts the periodic notifications and the certificate reports.
    ///
    /// - Parameter status: returns the status line that systemd shows.
    func start(_ status: @escaping () -> String) {
        systemd.started()
        notifySystemd(status)
        CertificateReport.repeat(on: loop, to: log) { [groups] in groups.inForce.certificateReport }
    }

    /// Notifies systemd. The worker counts as alive if every lane makes progress, as for `/livez`.
    private func notifySystemd(_ status: @escaping () -> String) {
        guard let interval = systemd.interval else { return }
        systemd.report(status(), isAlive: groups.inForce.stalled.isEmpty)
        loop.schedule(after: interval) { [self] in notifySystemd(status) }
    }

    func notifyStopping() { systemd.stopping() }

    /// Starts the checks of lanes, the token renewal and the minute reports, which last until the process exits.
    func superviseLanes() {
        checkLanes()
        scheduleMinute()
    }

    private func checkLanes() {
        groups.renewTokens()
        groups.checkProgress()
        loop.schedule(after: .seconds(StallDetector.checkIntervalSeconds)) { [self] in checkLanes() }
    }

    private func scheduleMinute() {
        loop.schedule(after: .seconds(MinuteReport.intervalSeconds)) { [self] in
            minute.write(to: log)
            scheduleMinute()
        }
    }
}

extension LaneGroup {
    var certificateReport: CertificateReport {
        CertificateReport(certificates: configuration.apns.certificates)
    }
}
