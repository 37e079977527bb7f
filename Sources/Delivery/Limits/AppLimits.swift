import EventLoop

/// The limits of all apps of a lane that have some.
///
/// Pure: it is told the time and what happens.
struct AppLimits {
    /// Of the smallest prefetch, the part that messages of one app may take which wait here, and the part of those of all
    /// apps: the rest is for others.
    static let waitingPartOfAnApp = 8
    static let waitingPart = 2

    enum Change: Hashable {
        case began(AppDirectory.Index)
        case ended(AppDirectory.Index, after: Duration)
    }

    /// By app; empty where none has limits.
    private var apps: [AppLimit?] = []
    private let waitingMax: Int
    private var waitingCount = 0
    /// Those some of whose messages wait here: few, so they are searched one by one.
    private(set) var appsWaiting: [AppDirectory.Index] = []
    /// Those that are limited now.
    private(set) var appsLimited: [AppDirectory.Index] = []
    /// What has happened since it was last emptied, for the log.
    var changes: [Change] = []

    /// - Parameters:
    ///   - limits: by app; of this lane.
    ///   - prefetch: the smallest of the lane's request queues.
    ///   - waitSecondsMax: the longest wait that the broker has a queue for.
    init(_ limits: [PushLimits], prefetch: Int, waitSecondsMax: Int) {
        waitingMax = max(1, prefetch / Self.waitingPart)
        guard limits.contains(where: { !$0.isNone }) else { return }
        let ofAnApp = max(1, prefetch / Self.waitingPartOfAnApp)
        apps = limits.map { limits in
            limits.isNone ? nil : AppLimit(limits, waitingMax: ofAnApp, waitSecondsMax: waitSecondsMax)
        }
    }

    func apply(to app: AppDirectory.Index) -> Bool { !apps.isEmpty && apps[app] != nil }

    subscript(app: AppDirectory.Index) -> AppLimit? { apps[app] }

    mutating func request(
        _ app: AppDirectory.Index, isBack: Bool, secondsLeft: Int64?, _ now: MonotonicTime
    ) -> AppLimit.Permit {
        let arrival = AppLimit.Arrival(
            isBack: isBack, secondsLeft: secondsLeft, hasRoom: waitingCount < waitingMax)
        guard let permit = apps[app]?.request(arrival, now) else { return .now }
        switch permit {
        case .now: break
        case .here:
            waitingCount += 1
            if !appsWaiting.contains(app) { appsWaiting.append(app) }
        case .later: sentAway(app)
        }
        return permit
    }

    /// What becomes of the first message of the app that waits here; nil: it waits on, or none does.
    mutating func nextPermit(_ app: AppDirectory.Index, _ now: MonotonicTime) -> AppLimit.Permit? {
        guard let permit = apps[app]?.nextPermit(now) else { return nil }
        waitingCount -= 1
        if apps[app]?.waitingCount == 0 { appsWaiting.removeAll { $0 == app } }
        if case .later = permit { sentAway(app) }
        return permit
    }

    /// When one that waits here is to be called, if no push ends before.
    var nextPermitTime: MonotonicTime? { appsWaiting.lazy.compactMap { apps[$0]?.nextPermitTime }.min() }

    mutating func ended(_ app: AppDirectory.Index, begunAt: MonotonicTime, _ now: MonotonicTime) {
        apps[app]?.ended(begunAt: begunAt, now)
    }

    /// Nobody waits here any more.
    mutating func forgetWaiting() {
        for app in appsWaiting { apps[app]?.forgetWaiting() }
        appsWaiting = []
        waitingCount = 0
    }

    /// To be called now and then while some are limited.
    mutating func review(_ now: MonotonicTime) {
        for app in appsLimited {
            guard let length = apps[app]?.endLimited(now) else { continue }
            appsLimited.removeAll { $0 == app }
            changes.append(.ended(app, after: length))
        }
    }

    private mutating func sentAway(_ app: AppDirectory.Index) {
        guard !appsLimited.contains(app) else { return }
        appsLimited.append(app)
        changes.append(.began(app))
    }
}
