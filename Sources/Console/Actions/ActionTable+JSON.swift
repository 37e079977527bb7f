import Crypto
import JSON

extension ActionTable.Action {
    /// Returns the action for the page.
    ///
    /// - Parameters:
    ///   - progress: the progress now; nil for an action that concerns no messages.
    ///   - isStoppable: whether the action runs and can be stopped.
    func json(_ progress: ActionTable.Progress?, isStoppable: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("id", id.description)
        json.member("state", state.word)
        json.key("progress")
        if let progress {
            json.beginObject()
            json.member("done", progress.done)
            json.member("total", progress.total)
            json.endObject()
        } else {
            json.null()
        }
        var (result, error): (String?, String?) = (nil, nil)
        switch state {
        case .running: break
        case .done(let text), .stopped(let text): result = text
        case .failed(let text): error = text
        }
        json.optional("result", result)
        json.optional("error", error)
        json.list("ids", progress?.ids ?? []) { $0.string($1) }
        json.member("stoppable", isStoppable)
        json.endObject()
        return json.bytes
    }
}
