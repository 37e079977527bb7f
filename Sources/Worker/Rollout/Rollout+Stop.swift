import EventLoop

/// The end of lanes, and of the process.
extension Rollout {
    mutating func ended(_ number: Int, _ now: MonotonicTime) -> [Action] {
        switch state {
        case .steady(let current), .checking(let current, _), .warming(let current, _, _), .retrying(let current, _, _):
            if current.number == number { return lanesEnded() }
            if case .warming(_, let next, _) = state, next.number == number {
                return retire(next, current, .notReady(number), now)
            }
            guard removeRetired(number) else { return [] }
            let announcing = stoppedConsuming(number)
            guard case .steady = state, newest != nil else { return announcing + [.remove(number)] }
            return announcing + [.remove(number)] + checkNewest(after: current)
        case .stopping(let undrained, let unfinished, _):
            guard removeRetired(number), retired.isEmpty else { return [] }
            let exit: WorkerExit = undrained == 0 && unfinished == 0 ? .success : .timedOut
            state = .stopped(exit)
            return [.exit(exit)]
        case .new, .awaitingTopology, .stopped: return []
        }
    }

    private mutating func removeRetired(_ number: Int) -> Bool {
        guard let index = retired.firstIndex(of: number) else { return false }
        retired.remove(at: index)
        return true
    }

    /// Exits the process. The lane threads of the current generation end only after a drain, so an earlier end is a
    /// defect. A new process may recover.
    private mutating func lanesEnded() -> [Action] {
        [.reportLanesWithoutThread(.permanent("all lane threads exited"))] + abort(.failed)
    }

    mutating func abort(_ exit: WorkerExit) -> [Action] {
        state = .stopped(exit)
        (retired, newest, announcement) = ([], nil, nil)
        return [.abort(exit)]
    }

    mutating func timerFired(_ now: MonotonicTime) -> [Action] {
        timer = nil
        var actions: [Action] = []
        if let announcement, now >= announcement.until { actions = stoppedConsuming(announcement.previous) }
        switch state {
        case .warming: actions += reviewWarming(now)
        case .retrying(let current, let next, let time) where now >= time:
            newest = next
            actions += checkNewest(after: current)
        case .stopping(_, _, let until) where now >= until:
            actions += abort(.timedOut)
        case .new, .awaitingTopology, .steady, .checking, .retrying, .stopping, .stopped: break
        }
        return actions
    }

    mutating func signalled(
        _ signal: StopSignal, _ undrained: Int, _ deadlineSeconds: Int, _ now: MonotonicTime
    ) -> [Action] {
        switch state {
        case .new, .awaitingTopology:
            state = .stopped(.success)
            return [.notifyStopping, .exit(.success)]
        case .steady(let current), .checking(let current, _), .retrying(let current, _, _):
            retired.append(current.number)
        case .warming(let current, let next, _): retired += [current.number, next.number]
        case .stopping: return abort(signal.exit)
        case .stopped: return []
        }
        (newest, announcement) = (nil, nil)
        let until = now + .seconds(deadlineSeconds + RolloutLimits.closeGraceSeconds)
        state = .stopping(undrained: undrained, unfinished: 0, until: until)
        return [.notifyStopping, .drain(deadlineSeconds: deadlineSeconds)]
    }

    mutating func laneDrained(_ unfinished: Int) -> [Action] {
        guard case .stopping(let undrained, let before, let until) = state else { return [] }
        // The drain is not over yet, because other threads, such as the consumer of registration commands, may still
        // close.
        state = .stopping(undrained: max(undrained - 1, 0), unfinished: before + unfinished, until: until)
        return []
    }
}
