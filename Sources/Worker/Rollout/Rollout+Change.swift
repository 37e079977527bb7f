import EventLoop

/// The change from one version of the configuration to the next.
extension Rollout {
    mutating func versionRead(_ version: Version) -> [Action] {
        switch state {
        case .new:
            let next = newGeneration(version)
            state = .new(next: next)
            return [.putInForce(next), .announce]
        case .awaitingTopology:
            let next = newGeneration(version)
            state = .awaitingTopology(next: next)
            return [.putInForce(next), .announce, .awaitTopology(next)]
        case .steady(let current), .retrying(let current, _, _):
            newest = version
            return checkNewest(after: current)
        case .checking, .warming:
            newest = version
            return []
        case .stopping, .stopped: return []
        }
    }

    /// Enters `steady`, and then starts the change to `newest`, if any. The change waits while the maximum number of
    /// generations is retired.
    mutating func checkNewest(after current: Generation) -> [Action] {
        state = .steady(current: current)
        guard let version = newest else { return [] }
        guard retired.count < RolloutLimits.retiredMax else { return [.reportPostponement] }
        newest = nil
        let next = newGeneration(version)
        state = .checking(current: current, next: next)
        return [.checkTopology(next)]
    }

    mutating func topologyChecked(_ number: Int, _ obstacle: Obstacle?, _ now: MonotonicTime) -> [Action] {
        switch state {
        case .awaitingTopology(let next):
            return next.number == number ? [.start(next)] : []
        case .checking(let current, let next):
            guard next.number == number else { return [] }
            if let obstacle { return abandon(next, current, obstacle, now) }
            let until = now + .seconds(RolloutLimits.readySecondsMax)
            state = .warming(current: current, next: next, until: until)
            return [.start(next)]
        case .new, .steady, .warming, .retrying, .stopping, .stopped: return []
        }
    }

    mutating func started(_ number: Int, _ now: MonotonicTime) -> [Action] {
        switch state {
        case .awaitingTopology(let next) where next.number == number:
            state = .steady(current: next)
            return [.superviseLanes, .monitorQueues(next)]
        case .warming(_, let next, _) where next.number == number: return reviewWarming(now)
        case .new, .awaitingTopology, .steady, .checking, .warming, .retrying, .stopping, .stopped: return []
        }
    }

    mutating func startFailed(_ number: Int, _ obstacle: Obstacle, _ now: MonotonicTime) -> [Action] {
        switch state {
        case .awaitingTopology(let next) where next.number == number:
            return [.reportLanesWithoutThread(obstacle)] + abort(.failed)
        case .warming(let current, let next, _) where next.number == number:
            return retire(next, current, obstacle, now)
        case .new, .awaitingTopology, .steady, .checking, .warming, .retrying, .stopping, .stopped: return []
        }
    }

    mutating func readinessChanged(
        _ number: Int, _ isReady: Bool, _ lane: Int, _ now: MonotonicTime
    ) -> [Action] {
        switch state {
        case .steady(var current) where current.number == number:
            current.isReady = isReady
            state = .steady(current: current)
        case .checking(var current, let next) where current.number == number:
            current.isReady = isReady
            state = .checking(current: current, next: next)
        case .retrying(var current, let next, let time) where current.number == number:
            current.isReady = isReady
            state = .retrying(current: current, next: next, at: time)
        case .warming(var current, let next, let until) where current.number == number:
            current.isReady = isReady
            state = .warming(current: current, next: next, until: until)
            return [.reportReadiness(lane: lane)] + reviewWarming(now)
        case .warming(let current, var next, let until) where next.number == number:
            next.isReady = isReady
            state = .warming(current: current, next: next, until: until)
            return reviewWarming(now)
        case .new, .awaitingTopology, .steady, .checking, .warming, .retrying, .stopping, .stopped: return []
        }
        return [.reportReadiness(lane: lane)]
    }

    /// Lets the next generation take over if that generation is ready or the current generation is not ready. Rolls the
    /// next generation back if its time to become ready has passed.
    mutating func reviewWarming(_ now: MonotonicTime) -> [Action] {
        guard case .warming(let current, let next, let until) = state else { return [] }
        if next.isReady || !current.isReady { return takeOver(next, from: current, now) }
        return now >= until ? retire(next, current, .notReady(next.number), now) : []
    }

    private mutating func takeOver(_ next: Generation, from current: Generation, _ now: MonotonicTime) -> [Action] {
        delays.forget()
        retired.append(current.number)
        announcement = Announcement(
            previous: current.number, until: now + .seconds(RolloutLimits.announcementSecondsMax))
        return [.putInForce(next), .finish(current.number), .monitorQueues(next)] + checkNewest(after: next)
    }

    /// Rolls back a generation whose lanes may have started.
    mutating func retire(
        _ next: Generation, _ current: Generation, _ obstacle: Obstacle, _ now: MonotonicTime
    ) -> [Action] {
        retired.append(next.number)
        return [.finish(next.number)] + abandon(next, current, obstacle, now)
    }

    private mutating func abandon(
        _ next: Generation, _ current: Generation, _ obstacle: Obstacle, _ now: MonotonicTime
    ) -> [Action] {
        switch obstacle {
        case .permanent:
            delays.forget()
            return [.reject(next.version, inForce: current.version, obstacle)] + checkNewest(after: current)
        case .temporary, .notReady:
            let report: [Action] = delays.lasts(now) == nil ? [] : [.reportDelay(obstacle)]
            guard newest == nil else { return report + checkNewest(after: current) }
            let time = now + .seconds(RolloutLimits.retrySeconds)
            state = .retrying(current: current, next: next.version, at: time)
            return report
        }
    }

    mutating func stoppedConsuming(_ number: Int) -> [Action] {
        guard announcement?.previous == number else { return [] }
        announcement = nil
        return [.announce]
    }
}
