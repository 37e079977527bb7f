import EventLoop

extension PoolConfiguration {
    /// Returns the answer timeout, in seconds, of a request that is sent now.
    func timeout(of request: APNSRequest, _ now: @autoclosure () -> Now) -> Int64 {
        Self.time(for: request, secondsMax: requestTimeoutSeconds, secondsMin: requestTimeoutSecondsMin, now)
    }

    /// Returns the time, in seconds, that a request may wait for a stream from now on.
    func wait(of request: APNSRequest, _ now: @autoclosure () -> Now) -> Int64 {
        Self.time(for: request, secondsMax: waitSecondsMax, secondsMin: 0, now)
    }

    /// Returns the time, in seconds, until `sendingEnd`, limited to `secondsMin...secondsMax`. Returns `secondsMax`
    /// if the request has no `sendingEnd`.
    private static func time(
        for request: APNSRequest, secondsMax: Int64, secondsMin: Int64, _ now: () -> Now
    ) -> Int64 {
        guard let end = request.sendingEnd else { return secondsMax }
        let (left, overflow) = end.subtractingReportingOverflow(now().unixSeconds)
        return overflow ? secondsMax : min(max(left, min(secondsMin, secondsMax)), secondsMax)
    }
}
