import EventLoop

extension PoolConfiguration {
    /// How long the answer to a request that leaves now is waited for: no longer than it is of use to anybody.
    func timeout(of request: APNSRequest, _ now: @autoclosure () -> Now) -> Duration {
        guard let expiration = request.expiration, expiration > 0 else { return .seconds(requestTimeoutSeconds) }
        let (left, overflow) = expiration.subtractingReportingOverflow(now().unixSeconds)
        let least = min(requestTimeoutSecondsMin, requestTimeoutSeconds)
        return .seconds(overflow ? requestTimeoutSeconds : min(max(left, least), requestTimeoutSeconds))
    }
}
