/// Keys of a payload.
public enum PayloadKeys {
    /// Keys that Apple defines inside `aps` (Apple, "Generating a remote notification"; the articles on ActivityKit,
    /// WidgetKit and controls). Only Safari used `url-args`.
    public static let aps = [
        "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "content-changed",
        "target-content-id", "interruption-level", "relevance-score", "filter-criteria", "url-args",
        "event", "timestamp", "stale-date", "dismissal-date", "content-state", "attributes-type", "attributes",
        "input-push-token", "input-push-channel",
    ]
}
