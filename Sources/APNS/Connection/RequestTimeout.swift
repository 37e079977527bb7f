import EventLoop

extension PoolConfiguration {
    /// How many seconds the answer to a request that leaves now is waited for.
    func timeout(of request: APNSRequest, _ now: @autoclosure () -> Now) -> Int64 {
        Self.time(for: request, secondsMax: requestTimeoutSeconds, secondsMin: requestTimeoutSecondsMin, now)
    }

    /// How many seconds a request may wait for a stream from now on.
    func wait(of request: APNSRequest, _ now: @autoclosure () -> Now) -> Int64 {
        Self.time(for: request, secondsMax: waitSecondsMax, secondsMin: 0, now)
    }

    /// No longer than it is of use to anybody.
    private static func time(
        for request: APNSRequest, secondsMax: Int64, secondsMin: Int64, _ now: () -> Now
    ) -> Int64 {
        guard let end = request.sendingEnd else { return secondsMax }
        let (left, overflow) = end.subtractingReportingOverflow(now().unixSeconds)
        return overflow ? secondsMax : min(max(left, min(secondsMin, secondsMax)), secondsMax)
    }
}
