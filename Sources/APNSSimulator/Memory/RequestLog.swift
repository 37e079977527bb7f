/// The newest requests, as many as it is told to keep.
struct RequestLog {
    private let requestsMax: Int
    private var ring: [LoggedRequest] = []
    private var oldest = 0
    private var total = 0

    init(requestsMax: Int) {
        self.requestsMax = requestsMax
    }

    /// Numbers the request and keeps it, if need be in place of the oldest.
    mutating func append(_ request: inout LoggedRequest) {
        total += 1
        request.number = total
        guard requestsMax > 0 else { return }
        if ring.count < requestsMax {
            ring.append(request)
        } else {
            ring[oldest] = request
            oldest = (oldest + 1) % requestsMax
        }
    }

    /// What is kept, the oldest first.
    var requests: [LoggedRequest] { Array(ring[oldest...] + ring[..<oldest]) }
}
